"""Exporting what a trace reader made: the same requests again, or a refusal; never something else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenario_kit import load
from trace_kit import csv_of, jsonl_of

from sim.errors import ScenarioError
from sim.export_trace import export_trace
from sim.population import make_requests
from sim.requests import RequestTable

TEXT = """
name: t
workload: {{{block}}}
schedule: [no-sort]
backend: {{use: simulated}}
"""


def requests(folder: Path, block: str) -> RequestTable:
    return make_requests(load(folder, TEXT.format(block=block)), 0)[0]


def test_c12_private_prompts_are_exported_as_blocks_of_their_own(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "arrived_at,num_prefill_tokens,num_decode_tokens", "0.25,374,44", "1.5,91,16")
    one = requests(tmp_path, f"kind: splitwise, path: {path}")
    export_trace(one, tmp_path / "out.jsonl")
    again = requests(tmp_path, f"kind: jsonl, path: {tmp_path / 'out.jsonl'}")
    assert np.array_equal(one.prompts.symbols, again.prompts.symbols)
    assert np.array_equal(one.prompt_tokens, again.prompt_tokens)
    assert np.array_equal(one.arrival_ns, again.arrival_ns)
    assert np.array_equal(one.output_tokens, again.output_tokens)


def refused(folder: Path, block: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        export_trace(requests(folder, block), folder / "out.jsonl")
    assert not (folder / "out.jsonl").exists()
    return str(caught.value)


def test_what_the_format_cannot_spell_is_refused(tmp_path: Path) -> None:
    def row(**more: Any) -> dict[str, Any]:
        return {"session_id": "s", "input_length": 700, "output_length": 30, "hash_ids": [0, 1], **more}

    deltas = jsonl_of(tmp_path / "a.jsonl", row(timestamp=0))
    assert "found answers of blocks" in refused(tmp_path, f"kind: aiperf, path: {deltas}")
    lengths = csv_of(tmp_path / "t.csv", "num_prefill_tokens,num_decode_tokens", "374,44", "91,16")
    block = f"kind: splitwise, path: {lengths}, max_prompt_tokens: 100"
    assert "Write over_limit: skip or truncate." in refused(tmp_path, block)

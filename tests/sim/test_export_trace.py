"""CASES.md C12: an exported trial, replayed, is the same trial."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from market_kit import table
from scenario_kit import SMALL, load

from mechanism.prompts import Prompts
from sim.errors import ScenarioError
from sim.export_trace import export_trace
from sim.population import make_requests
from sim.requests import RequestTable

MIXED = """\
{"id": "x", "user": "u", "bid": 0.1, "value": 0.3, "tokens": [5, 99999999999], "arrival_s": 0.1, "output_ids": [7, 8]}
{"id": "y", "user": "v", "bid": 1e99, "tokens": [5], "arrival_s": 0.30000000000000004, "output_tokens": 2}
"""


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, Prompts):
        pairs = ((a.symbols, b.symbols), (a.indptr, b.indptr), (a.lengths, b.lengths))
        return all((x is None) == (y is None) and (x is None or np.array_equal(x, y)) for x, y in pairs)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else a is b or a == b


def differing(a: RequestTable, b: RequestTable) -> set[str]:
    names = {field.name for field in fields(RequestTable)}
    return {name for name in names if not equal(getattr(a, name), getattr(b, name))}


def replayed(folder: Path, text: str, *overrides: str) -> tuple[RequestTable, RequestTable]:
    """A trial, and the one that its exported trace gives."""
    scenario = load(folder, text, *overrides)
    requests = make_requests(scenario, 0)[0]
    export_trace(requests, folder / "t.jsonl")
    again = load(folder, SMALL.replace("{kind: stars, num_requests: 64}", "{kind: jsonl, path: t.jsonl}"))
    return requests, make_requests(again, 0)[0]


@pytest.mark.parametrize(
    "overrides",
    [
        ["users={kind: random, count: 5}"],
        ["arrivals={kind: poisson, request_rate: 3}", "workload.output_tokens={kind: uniform, low: 1, high: 9}"],
        ["workload={kind: chains, num_requests: 40, turns: 4}", "arrivals={kind: gamma, request_rate: 2}"],
        ["workload={kind: trees, num_requests: 50, depth: 3}", "values={kind: uniform, correlation: 0.5}"],
    ],
)
def test_a_synthetic_trial_comes_back(tmp_path: Path, overrides: list[str]) -> None:
    requests, again = replayed(tmp_path, SMALL, *overrides)
    # clusters matter to draws only, and the file holds what was drawn; users are numbered as they appear
    names = [[table.user_names[u] for u in table.user] for table in (requests, again)]
    assert names[0] == names[1]
    assert differing(requests, again) <= {"cluster", "user", "user_names"}


def test_recorded_outputs_bids_and_wide_ids_come_back(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text(MIXED)
    requests, again = replayed(tmp_path, SMALL, "workload={kind: jsonl, path: " + str(tmp_path / "w.jsonl") + "}")
    assert differing(requests, again) == set()
    assert again.output_recorded is not None
    assert again.output_recorded.tolist() == [True, False]


def test_blocks_come_back(tmp_path: Path) -> None:
    lengths = [1, 511, 512, 513, 1024, 1500]
    rows = [
        {"timestamp": 3 * i, "input_length": n, "output_length": 2, "hash_ids": list(range(-(-n // 512)))}
        for i, n in enumerate(lengths)
    ]
    (tmp_path / "w.jsonl").write_text("\n".join(map(json.dumps, rows)))
    path = tmp_path / "w.jsonl"
    requests, again = replayed(tmp_path, SMALL, f"workload={{kind: mooncake, path: {path}}}")
    assert again.prompt_tokens.tolist() == lengths
    assert differing(requests, again) == set()


def test_the_same_scenario_on_the_exported_trace_draws_the_same(tmp_path: Path) -> None:
    scenario = load(
        tmp_path, SMALL + "users: per-request\nvalues: pareto\narrivals: {kind: poisson, request_rate: 2}\n"
    )
    requests = make_requests(scenario, 0)[0]
    export_trace(requests, tmp_path / "t.jsonl")
    text = (tmp_path / "scenario.yaml").read_text()
    again = load(tmp_path, text, f"workload={{kind: jsonl, path: {tmp_path / 't.jsonl'}}}")
    assert differing(requests, make_requests(again, 0)[0]) <= {"cluster"}


def test_where_all_arrive_at_once_no_time_is_written(tmp_path: Path) -> None:
    requests = make_requests(load(tmp_path), 0)[0]
    export_trace(requests, tmp_path / "t.jsonl")
    row = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
    assert set(row) == {"id", "user", "bid", "value", "output_tokens", "tokens"}


def test_a_failed_export_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    requests = make_requests(load(tmp_path), 0)[0]
    odd = Prompts(np.arange(3, dtype=np.int32), np.array([0, 3]), np.array([4, 2, 4], dtype=np.int32))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "t.jsonl").write_text("old")
    with pytest.raises(
        ScenarioError, match=r"request 0: found blocks of \[4, 2, 4\] tokens; expected blocks of one size"
    ):
        export_trace(replace(requests, prompts=odd, request_id=("0",)), tmp_path / "out" / "t.jsonl")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["t.jsonl"]
    assert (tmp_path / "out" / "t.jsonl").read_text() == "old"


def test_a_path_that_can_be_no_file_is_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = make_requests(load(tmp_path), 0)[0]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"^\.: found a folder"):
        export_trace(requests, ".")
    with pytest.raises(ScenarioError, match=r"^nodir/x: found no folder nodir"):
        export_trace(requests, "nodir/x")


def test_turns_that_wait_for_answers_have_no_spelling(tmp_path: Path) -> None:
    waiting = replace(table([0, 0], [1.0, 1.0]), follows=np.array([-1, 0]), think_ns=np.array([0, 6]))
    with pytest.raises(ScenarioError, match="turns that wait for answers"):
        export_trace(waiting, tmp_path / "t.jsonl")
    assert list(tmp_path.iterdir()) == []

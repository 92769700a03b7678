"""The figures that the public traces must give, each found by others or by a separate count (issue text, CASES.md)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_cli
from trace_kit import SHARED, needs_shared, prompts_of, read

from sim.prefix_sharing import shared_tokens

pytestmark = needs_shared

MOONCAKE = SHARED / "mooncake" / "conversation_trace.jsonl"
WEKA = SHARED / "weka-claude-code" / "traces"


def described(capsys: pytest.CaptureFixture[str], path: Path, kind: str) -> dict[str, Any]:
    done = run_cli(capsys, "describe", path, "--kind", kind, "--json")
    assert done.code == 0
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_mooncake_conversations(capsys: pytest.CaptureFixture[str]) -> None:
    found = described(capsys, MOONCAKE, "mooncake")
    assert found["num_requests"] == 12_031
    assert round(100 * found["prefix_hit_rate"], 2) == 37.36
    assert round(100 * found["share_above_kv"], 1) == 13.7
    assert found["prompt_tokens"]["max"] == 126_195
    assert found["arrivals"]["tied_share"] == 10_851 / 12_031
    assert found["arrivals"]["most_at_once"] == 28


def test_oddity_o11_the_longest_mooncake_prompt() -> None:
    demand = read("mooncake", MOONCAKE)
    assert demand.request_id is not None
    row = demand.request_id.index("11193")
    assert demand.prompts.num_tokens[row] == 126_195
    assert len(prompts_of(demand)[row]) == 247


def test_oddity_o13_prompts_wholly_contained_in_an_earlier_one() -> None:
    demand = read("mooncake", MOONCAKE)
    contained = shared_tokens(demand.prompts) == demand.prompts.num_tokens - 1
    assert demand.request_id is not None
    assert contained[demand.request_id.index("262")]
    assert 118 <= contained.sum() < 200, "118 rows are; a few more lack one token"


def test_ragpulse(capsys: pytest.CaptureFixture[str]) -> None:
    found = described(capsys, SHARED / "ragpulse", "ragpulse")
    assert found["num_requests"] == 7_106
    assert round(100 * found["prefix_hit_rate"], 1) == 31.4
    assert found["arrivals"]["span_s"] == pytest.approx(604_603)
    assert any("steps back once, first on line 3801, from 604453 s to 0 s" in warning for warning in found["warnings"])


def test_ragpulses_templates_are_6_to_12_tokens() -> None:
    private = [tokens for prompt in prompts_of(read("ragpulse", SHARED / "ragpulse")) for i, tokens in prompt if i < 0]
    assert len(private) == 7_106
    assert set(private) == set(range(6, 13))


def test_azure_conversations(capsys: pytest.CaptureFixture[str]) -> None:
    found = described(capsys, SHARED / "azure2023" / "AzureLLMInferenceTrace_conv.csv", "azure")
    assert found["num_requests"] == 19_366
    assert round(found["arrivals"]["span_s"]) == 3_502
    assert found["prefix_hit_rate"] == 0
    assert found["warnings"] == []


def test_splitwise_is_azure_rebased() -> None:
    azure = read("azure", SHARED / "azure2023" / "AzureLLMInferenceTrace_conv.csv", num_requests=1000)
    copy = read("splitwise", SHARED / "vidur" / "splitwise_conv.first1000.csv")
    assert np.array_equal(azure.prompts.num_tokens, copy.prompts.num_tokens)
    assert np.array_equal(azure.output_tokens, copy.output_tokens)
    assert azure.arrival_ns is not None
    assert copy.arrival_ns is not None
    assert np.abs(azure.arrival_ns - copy.arrival_ns).max() <= 1000, "to the microsecond that the copy keeps"


def test_wekas_files_share_nothing_with_each_other() -> None:
    files = sorted(WEKA.glob("*.json.gz"))[:12]
    alone = sum(int(shared_tokens(read("weka", path).prompts).sum()) for path in files)
    together = read("weka", WEKA)
    assert together.request_id is not None
    names = {path.name.removesuffix(".json.gz") for path in files}
    rows = [i for i, name in enumerate(together.request_id) if name.split("/")[0] in names]
    assert shared_tokens(together.prompts)[rows].sum() == alone


@pytest.mark.parametrize(
    ("name", "row", "tokens", "dropped"),
    [("trace_0001", "trace_0001/0", 71_175, {}), ("trace_0091", "trace_0091/7", None, {"zero output": 1})],
)
def test_oddities_o16_and_o19_in_wekas_own_files(
    name: str, row: str, tokens: int | None, dropped: dict[str, int]
) -> None:
    path = WEKA / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip(f"{name} is not in the shared data")
    demand = read("weka", path)
    assert demand.dropped == dropped
    assert demand.request_id is not None
    assert tokens in (None, int(demand.prompts.num_tokens[demand.request_id.index(row)]))


def test_oddity_o20_wekas_compacted_context() -> None:
    path = WEKA / "trace_0707.json.gz"
    if not path.is_file():
        pytest.skip("trace_0707 is not in the shared data")
    demand = read("weka", path)
    tokens = demand.prompts.num_tokens.tolist()
    assert [tokens[22], tokens[23]] == [157_172, 24_390]
    assert shared_tokens(demand.prompts)[23] < 24_390


def test_aiperfs_turns_repeat_their_session() -> None:
    demand = read("aiperf", SHARED / "aiperf-excerpt" / "inference-day-2026.first4sessions.jsonl")
    assert len(demand.prompts) == 33
    assert demand.session is not None
    assert Counter(Counter(demand.session).values()) == Counter({13: 1, 12: 1, 7: 1, 1: 1})
    second = demand.prompts.num_tokens[demand.request_id.index("2")]  # type: ignore[union-attr]
    assert second == 42_277 + 335 + 1_855


def test_servegens_batch_jobs_share_an_instruction() -> None:
    trace = SHARED / "servegen-offline-excerpt"
    first, second = (
        prompts_of(read("servegen", trace / name)) for name in ("trace_a.first93.jsonl", "trace_c.first50.jsonl")
    )
    assert (len(first), len(second)) == (93, 50)
    assert {tuple(prompt[:10]) for prompt in first} == {tuple((i, 16) for i in range(10))}
    assert {tuple(prompt[:23]) for prompt in second} == {tuple((655296 + i, 16) for i in range(23))}


def test_llmservingsims_three_files() -> None:
    folder = SHARED / "llmservingsim"
    ids = read("sharegpt-ids", folder / "sharegpt-llama-3.1-8b-300-sps10.jsonl.gz")
    assert (len(ids.prompts), int(ids.prompts.num_tokens[0]), int(ids.output_tokens[0])) == (300, 2358, 531)
    assert len(read("llmservingsim", folder / "workload_me2_01_mixed.jsonl").prompts) == 608
    example = read("sharegpt-ids", folder / "example_trace.jsonl")
    # request 2 begins with the first seven tokens of request 1, request 3 with five
    assert shared_tokens(example.prompts)[:3].tolist() == [0, 7, 5]

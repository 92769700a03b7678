"""AIPerf's session deltas."""

from pathlib import Path
from typing import Any

import pytest
from scenario_kit import load
from trace_kit import arrivals_s, jsonl_of, prompts_of, read, refusal

from sim.arrivals import Sessions
from sim.errors import ScenarioError
from sim.population import make_requests
from sim.workloads.aiperf import Aiperf


def row(session: str, tokens: int, output: int, ids: list[int], **more: Any) -> dict[str, Any]:
    return {"session_id": session, "input_length": tokens, "output_length": output, "hash_ids": ids, **more}


ROWS = (
    row("s", 700, 300, [0, 1], timestamp=0.0, group_id=46),
    row("t", 512, 40, [0], timestamp=5.0),
    row("s", 600, 50, [8, 9], delay=12219.3),
    row("s", 10, 1, [10], delay=7563.0),
)


def test_oddity_o31_a_turns_prompt_is_all_that_was_said_before(tmp_path: Path) -> None:
    demand = read("aiperf", jsonl_of(tmp_path / "t.jsonl", *ROWS))
    first, other, second, third = prompts_of(demand)
    assert first == [(0, 512), (1, 188)]
    assert other == [(0, 512)]
    assert second[:2] == first
    assert second[2][1] == 300, "the answer"
    assert second[3:] == [(8, 512), (9, 88)]
    assert third[:5] == second
    assert [tokens for _, tokens in third[5:]] == [50, 10]
    assert demand.output_ids is not None
    assert demand.output_ids.symbols[0] == second[2][0], "what was answered is what is repeated"
    assert demand.output_ids.num_tokens.tolist() == demand.output_tokens.tolist() == [300, 40, 50, 1]


def test_pauses_are_recorded_and_times_are_not(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", *ROWS)
    assert Aiperf(path=path).recorded() == {"sessions"}
    demand = read("aiperf", path)
    assert demand.think_ns is not None
    assert demand.think_ns.tolist() == [0, 0, 12_219_300_000, 7_563_000_000]
    assert arrivals_s(demand) == [0.0, 0.005, 12.2193, 19.7823]
    assert demand.session == ("s", "t", "s", "s")
    assert "only first turns have a recorded time" in demand.warnings[0]
    assert read("aiperf", jsonl_of(tmp_path / "t.jsonl", *ROWS[:2])).warnings == ()


def test_a_turn_without_an_answer_is_dropped_and_yet_said(tmp_path: Path) -> None:
    demand = read(
        "aiperf", jsonl_of(tmp_path / "t.jsonl", row("s", 5, 0, [1], timestamp=0), row("s", 6, 2, [2], delay=1))
    )
    assert demand.dropped == {"zero output": 1}
    assert prompts_of(demand) == [[(1, 5), (2, 6)]]


def test_sessions_can_start_as_a_poisson_process(tmp_path: Path) -> None:
    demand = read("aiperf", jsonl_of(tmp_path / "t.jsonl", *ROWS), session_rate=0.01)
    times = dict(zip(demand.request_id or (), arrivals_s(demand), strict=True))
    assert times["1"] == 0.0
    assert times["2"] > 1.0
    assert times["4"] == 19.7823


def test_a_slash_in_a_name_joins_no_sessions(tmp_path: Path) -> None:
    rows = row("team/s", 5, 1, [1], timestamp=0), row("team/t", 5, 1, [2], timestamp=0)
    first, second = arrivals_s(read("aiperf", jsonl_of(tmp_path / "t.jsonl", *rows), session_rate=0.01))
    assert second > first == 0


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    late = jsonl_of(tmp_path / "t.jsonl", row("s", 5, 1, [1], timestamp=0), row("s", 6, 2, [2], timestamp=9))
    assert 't.jsonl:2: delay: found nothing; expected the key "delay"' in refusal("aiperf", late)
    early = jsonl_of(tmp_path / "t.jsonl", row("s", 5, 1, [1], delay=0))
    assert "t.jsonl:1: timestamp: found nothing" in refusal("aiperf", early)
    blocks = jsonl_of(tmp_path / "t.jsonl", row("s", 513, 1, [1], timestamp=0))
    assert "found 1 ids for 513 tokens in blocks of 512; expected 2 ids" in refusal("aiperf", blocks)


SCENARIO = """
name: agents
workload: {kind: aiperf, path: t.jsonl}
schedule: [no-sort]
backend: {use: simulated}
"""


def test_turns_follow_answers_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    jsonl_of(tmp_path / "t.jsonl", *ROWS)
    assert isinstance(load(tmp_path, SCENARIO).arrivals, Sessions)
    requests, _ = make_requests(load(tmp_path, SCENARIO), 0)
    assert requests.follows is not None
    assert requests.follows.tolist() == [-1, -1, 0, 2]
    assert requests.think_ns is not None
    assert requests.think_ns.tolist() == [0, 0, 12_219_300_000, 7_563_000_000]
    with pytest.raises(ScenarioError, match="the workload records no arrivals"):
        load(tmp_path, SCENARIO, "arrivals=trace")

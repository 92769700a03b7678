"""What a trace is like: every figure worked out on paper, the sharing against a naive search."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_kit import csv_of, jsonl_of, prompts_of, read, shared_oracle

from mechanism.prompts import Prompts
from sim.describe import Lengths, describe
from sim.errors import ScenarioError
from sim.requests import Demand

ROWS = [(0, 1024, [1, 2]), (0, 1024, [1, 2]), (4000, 600, [1, 9]), (9000, 10, [7]), (9000, 900, [1, 9])]


def trace(folder: Path) -> Demand:
    records = [
        {"timestamp": t, "input_length": tokens, "output_length": 10, "hash_ids": ids} for t, tokens, ids in ROWS
    ]
    return read("mooncake", jsonl_of(folder / "t.jsonl", *records))


def test_every_figure(tmp_path: Path) -> None:
    found = describe(trace(tmp_path), source="t.jsonl", kind="mooncake", kv_tokens=900)
    assert found.num_requests == 5
    # the second shares all but its last token; 512 with the first; nothing; 600 with the third (88 tokens of its block)
    assert found.prefix_hit_rate == (1023 + 512 + 600) / 3558
    assert found.prompt_tokens.mean == 3558 / 5
    assert (found.prompt_tokens.p50, found.prompt_tokens.max, found.prompt_tokens.total) == (900, 1024, 3558)
    assert found.output_tokens.p99 == 10
    assert (found.num_above_kv, found.share_above_kv) == (2, 0.4)
    assert found.arrivals is not None
    assert (found.arrivals.span_s, found.arrivals.tied_share) == (9.0, 0.4)
    assert (found.num_sessions, found.turns, found.recorded_hit_rate) == (None, None, None)
    assert "2 of 5 prompts are longer than 900 tokens of KV cache" in found.warnings


def test_it_is_strict_json(tmp_path: Path) -> None:
    found = describe(trace(tmp_path), source="t.jsonl", kind="mooncake").to_json()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again["prompt_tokens"]["curve"][50] == 900
    assert len(again["shared_share"]["curve"]) == 101
    assert again["arrivals"]["requests"][0] == 2


def test_sessions_drops_and_what_a_server_said(tmp_path: Path) -> None:
    header = "at,in,out,talk,cached"
    path = csv_of(tmp_path / "t.csv", header, "0,10,5,a,0", "1,20,5,a,4", "2,10,0,b,3", "3,10,5,b,5")
    from sim.workloads.table import TableColumns

    columns = TableColumns(
        prompt_tokens="in", output_tokens="out", arrival="at", session="talk", cached_tokens="cached"
    )
    demand = read("table", path, columns=columns, time_unit="s", sharing="session")
    found = describe(demand, source="t.csv", kind="table")
    assert (found.num_sessions, found.dropped) == (2, {"zero output": 1})
    assert found.turns is not None
    assert (found.turns.mean, found.turns.max) == (1.5, 2)
    assert found.recorded_hit_rate == 9 / 40
    assert found.prefix_hit_rate == 10 / 40, "an unbounded cache holds the first prompt, and its answer is no prompt"
    assert "1 of 4 records are left out: zero output" in found.warnings


def test_no_requests_are_refused(tmp_path: Path) -> None:
    demand = read("splitwise", csv_of(tmp_path / "t.csv", "num_prefill_tokens,num_decode_tokens", "5,0"))
    with pytest.raises(ScenarioError, match=r"t\.csv: found no requests .*zero output.*; expected at least one"):
        describe(demand, source="t.csv", kind="splitwise")


def test_percentiles_are_numpys() -> None:
    values = np.array([1, 2, 3, 10])
    found = Lengths.of(values)
    assert (found.p50, found.p90) == (2.5, pytest.approx(7.9))
    assert found.curve[0] == 1


symbols = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=6)


@settings(deadline=None, max_examples=200)
@given(st.lists(symbols.filter(bool), min_size=1, max_size=12))
def test_sharing_equals_a_naive_search(rows: list[list[tuple[int, int]]]) -> None:
    flat = [pair for row in rows for pair in row]
    prompts = Prompts(
        np.array([identity for identity, _ in flat], dtype=np.int32),
        np.cumsum([0, *map(len, rows)]),
        np.array([tokens for _, tokens in flat], dtype=np.int32),
    )
    n = len(rows)
    demand = Demand(prompts=prompts, output_tokens=np.ones(n, dtype=np.int64), cluster=np.arange(n))
    expected = shared_oracle(prompts_of(demand))
    found = describe(demand, source="x", kind="x")
    assert found.prefix_hit_rate == sum(expected) / int(prompts.num_tokens.sum())
    assert found.shared_share.total == pytest.approx(
        sum(shared / tokens for shared, tokens in zip(expected, prompts.num_tokens.tolist(), strict=True))
    )


def test_recordings_that_each_start_at_0_are_no_coarse_clock(tmp_path: Path) -> None:
    header = "at,in,out,talk"
    path = csv_of(tmp_path / "t.csv", header, *(f"{t},10,5,{s}" for s in "abcd" for t in (0, 7 + ord(s))))
    from sim.workloads.table import TableColumns

    columns = TableColumns(prompt_tokens="in", output_tokens="out", arrival="at", session="talk")
    told = " ".join(describe(read("table", path, columns=columns, time_unit="s"), source="t", kind="table").warnings)
    assert "every recording starts its clock at 0: 4 sessions begin at once" in told
    assert "coarser than the traffic" not in told


def test_prompts_over_the_limit_are_counted_whatever_becomes_of_them(tmp_path: Path) -> None:
    rows = [f"{size},5" for size in (10, 90, 95)]
    path = csv_of(tmp_path / "t.csv", "num_prefill_tokens,num_decode_tokens", *rows)
    for over, said in (
        ("reject", "2 of 3 prompts are over max_prompt_tokens: rejected on arrival"),
        ("truncate", "2 of 3 prompts are cut to 50 tokens"),
        ("skip", "2 of 3 records are left out: prompt over 50 tokens"),
    ):
        demand = read("splitwise", path, max_prompt_tokens=50, over_limit=over)
        assert said in describe(demand, source="t.csv", kind="splitwise").warnings

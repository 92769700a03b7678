import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanism.radix_tree import build_tree
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.workloads.mooncake import Mooncake

TRACE = Path(__file__).resolve().parents[4] / "shared" / "data" / "mooncake" / "conversation_trace.jsonl"
needs_trace = pytest.mark.skipif(not TRACE.is_file(), reason="the Mooncake trace is not beside the repository")


def row(timestamp: float, tokens: int, output: int, *ids: int) -> str:
    return json.dumps({"timestamp": timestamp, "input_length": tokens, "output_length": output, "hash_ids": list(ids)})


def read(folder: Path, *rows: str, **parameters: Any) -> Demand:
    path = folder / "trace.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    return Mooncake(path=path, **parameters).generate(partial(stream, 0, 0))


def arrivals(demand: Demand) -> list[int]:
    assert demand.arrival_ns is not None
    found: list[int] = demand.arrival_ns.tolist()
    return found


def test_milliseconds_blocks_and_the_last_blocks_remainder(tmp_path: Path) -> None:
    demand = read(tmp_path, row(27482, 1025, 5, 7, 8, 9), "", row(27482.5, 512, 1, 7), row(30000, 17, 614, 888))
    assert arrivals(demand) == [27_482_000_000, 27_482_500_000, 30_000_000_000]
    assert demand.prompts.lengths is not None
    assert demand.prompts.lengths.tolist() == [512, 512, 1, 512, 17]
    assert demand.prompts.num_tokens.tolist() == [1025, 512, 17]
    assert demand.output_tokens.tolist() == [5, 1, 614]
    assert demand.request_id == ("1", "3", "4")
    assert demand.cluster.tolist() == [0, 1, 2]
    assert (demand.dropped, demand.warnings) == ({}, ())


def test_oddity_o08_an_id_may_repeat_inside_a_prompt(tmp_path: Path) -> None:
    passages = [1417, 1417, 1416, 1416, 1420, 1420]
    shorter, branching = row(0, 5 * 512 + 9, 1, *passages), row(0, 700, 1, 1417, 1416)
    demand = read(tmp_path, row(0, 6 * 512, 1, *passages), shorter, branching)
    tree = build_tree(demand.prompts)
    depths = {int(depth) for depth in tree.depth_tokens}
    assert {512, 5 * 512 + 9} <= depths


def test_oddity_o10_equal_times_keep_file_order(tmp_path: Path) -> None:
    demand = read(tmp_path, *(row(3000, 10 + i, 1, i) for i in range(28)))
    assert demand.prompts.num_tokens.tolist() == list(range(10, 38))
    assert set(arrivals(demand)) == {3_000_000_000}


def test_oddity_o13_the_same_prompt_twice_down_to_its_tail(tmp_path: Path) -> None:
    demand = read(tmp_path, row(12000, 1902, 587, 0, 975, 976, 977), row(90000, 1902, 654, 0, 975, 976, 977))
    tree = build_tree(demand.prompts)
    assert demand.prompts.num_tokens.tolist() == [1902, 1902]
    assert int(tree.depth_tokens.max()) == 1902


def test_oddity_o14_a_prompt_shorter_than_a_block(tmp_path: Path) -> None:
    assert read(tmp_path, row(8844, 17, 614, 888)).prompts.num_tokens.tolist() == [17]


def test_records_without_input_or_output_are_dropped_and_counted(tmp_path: Path) -> None:
    demand = read(tmp_path, row(0, 0, 5), row(1, 5, 0, 1), row(2, 5, 5, 1), row(3, 0, 0))
    assert demand.request_id == ("3",)
    assert demand.dropped == {"empty prompt": 2, "zero output": 1}


def test_a_window_counts_time_from_its_start(tmp_path: Path) -> None:
    rows = [row(1000 * t, 5, 1, t) for t in (0, 5, 2, 3, 4)]
    demand = read(tmp_path, *rows, start_s=2.0, end_s=5.0, num_requests=2)
    assert demand.request_id == ("3", "4")
    assert arrivals(demand) == [0, 1_000_000_000]
    assert demand.prompts.symbols.tolist() == [2, 3]
    assert read(tmp_path, *rows, num_requests=2).request_id == ("1", "3")
    assert read(tmp_path, *rows, start_s=5.0).request_id == ("2",)


def test_c10_dates_count_from_the_first(tmp_path: Path) -> None:
    demand = read(tmp_path, row(1773066274000, 5, 1, 1), row(1773066275500, 5, 1, 1))
    assert arrivals(demand) == [0, 1_500_000_000]
    assert "dates" in demand.warnings[0]
    with pytest.raises(ScenarioError, match=r"trace.jsonl:1: timestamp: found 1790000000000000, which is the year"):
        read(tmp_path, row(1.79e15, 5, 1, 1))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            row(0, 1025, 5, 7, 8),
            "trace.jsonl:2: hash_ids: found 2 ids for 1025 tokens in blocks of 512; expected 3 ids.",
        ),
        (row(0, 512, 5, 7, 8), "trace.jsonl:2: hash_ids: found 2 ids for 512 tokens in blocks of 512; expected 1 ids."),
        (row(-1, 5, 5, 7), "trace.jsonl:2: timestamp: found -1; expected a finite number, 0 or more."),
        (row(0, -5, 5, 7), "trace.jsonl:2: input_length: found -5; expected an integer, 0 or more."),
        (row(0, 5, -5, 7), "trace.jsonl:2: output_length: found -5"),
        (
            '{"timestamp": "0", "input_length": 1, "output_length": 1, "hash_ids": [1]}',
            'trace.jsonl:2: timestamp: found "0"; expected a finite number',
        ),
        (
            '{"input_length": 1, "output_length": 1, "hash_ids": [1]}',
            'trace.jsonl:2: timestamp: found nothing; expected the key "timestamp".',
        ),
        (
            '{"timestamp": 61.114, "turn": 1, "chat_id": 159, "input_length": 5, "output_length": 1, "hash_ids": [1]}',
            'trace.jsonl:2: chat_id: found the unknown key "chat_id"',
        ),
    ],
)
def test_a_wrong_record_is_refused_by_line_and_key(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, row(0, 5, 5, 7), line)
    assert message in str(caught.value)


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"end_s: found 2.0; expected more than start_s, which is 2.0"):
        Mooncake(path=Path("x"), start_s=2.0, end_s=2.0)


@needs_trace
def test_the_real_trace() -> None:
    demand = Mooncake(path=TRACE).generate(partial(stream, 0, 0))
    records = [json.loads(line) for line in TRACE.read_text().splitlines()]
    lengths = demand.prompts.num_tokens
    assert lengths.tolist() == [record["input_length"] for record in records]
    assert demand.output_tokens.tolist() == [record["output_length"] for record in records]
    assert len(demand.prompts) == 12_031
    gaps = np.diff(demand.arrival_ns)  # type: ignore[arg-type]
    assert (gaps == 0).sum() == 10_851  # O10
    assert lengths[11_192] == 126_195  # O11
    assert np.mean(lengths > 23_000) == pytest.approx(0.137, abs=0.0005)


@needs_trace
def test_the_real_traces_hit_rate_with_an_unbounded_cache() -> None:
    """Longest common prefix with any earlier request, at most prompt − 1: 37.36 % of the tokens (CASES.md H)."""
    demand = Mooncake(path=TRACE).generate(partial(stream, 0, 0))
    prompts, lengths = demand.prompts, demand.prompts.num_tokens
    assert prompts.lengths is not None
    longest: dict[tuple[int, int], int] = {}
    hits = 0
    for r in range(len(prompts)):
        path, shared, open_ = 0, 0, True
        for position in range(prompts.indptr[r], prompts.indptr[r + 1]):
            key, size = (path, int(prompts.symbols[position])), int(prompts.lengths[position])
            seen = longest.get(key, 0)
            if open_:
                shared += min(seen, size)
                open_ = seen == size == 512
            longest[key] = max(seen, size)
            path = hash(key)
        hits += min(shared, int(lengths[r]) - 1)
    assert hits / lengths.sum() == pytest.approx(0.3736, abs=0.00005)

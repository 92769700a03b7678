from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.workloads._outputs import OutputTokens, UniformTokens
from sim.workloads.jsonl import Jsonl


def workload(folder: Path, *rows: str, output_tokens: OutputTokens = 1, block_tokens: int | None = None) -> Jsonl:
    path = folder / "w.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    return Jsonl(path=path, output_tokens=output_tokens, block_tokens=block_tokens)


def read(folder: Path, *rows: str, output_tokens: OutputTokens = 1) -> Demand:
    return workload(folder, *rows, output_tokens=output_tokens).generate(partial(stream, 0, 0))


def test_columns_come_through_in_file_order(tmp_path: Path) -> None:
    demand = read(
        tmp_path,
        '{"id": "a", "user": "u", "bid": 1, "value": 2, "tokens": [5], "arrival_s": 3, "session": "s", "turn": 4}',
        '{"id": "b", "user": "v", "bid": 3, "tokens": [5, 6], "arrival_s": 1}',
        '{"id": "c", "user": "u", "bid": 0, "tokens": [7], "arrival_s": 2, "session": "s"}',
    )
    assert demand.request_id == ("a", "b", "c")
    assert demand.user == ("u", "v", "u")
    assert demand.arrival_ns is not None
    assert demand.arrival_ns.tolist() == [3_000_000_000, 1_000_000_000, 2_000_000_000]
    assert demand.cluster.tolist() == [0, 1, 0]
    assert demand.session == ("s", "b", "s")
    assert demand.turn is not None
    assert demand.turn.tolist() == [4, 0, 1]
    assert demand.value is not None
    assert demand.bid is not None
    assert (demand.value.tolist(), demand.bid.tolist()) == ([2, 3, 0], [1, 3, 0])


def test_without_sessions_every_request_is_its_own_cluster(tmp_path: Path) -> None:
    demand = read(tmp_path, *['{"bid": 1, "tokens": [5]}'] * 3)
    assert demand.cluster.tolist() == [0, 1, 2]
    assert (demand.session, demand.turn, demand.arrival_ns, demand.output_ids) == (None, None, None, None)


def test_rows_without_output_tokens_take_the_workloads(tmp_path: Path) -> None:
    rows = ['{"bid": 1, "tokens": [5]}', '{"bid": 1, "tokens": [5], "output_tokens": 9}', '{"bid": 1, "tokens": [5]}']
    assert read(tmp_path, *rows).output_tokens.tolist() == [1, 9, 1]
    assert read(tmp_path, *rows, output_tokens=4).output_tokens.tolist() == [4, 9, 4]
    drawn = read(tmp_path, *rows, output_tokens=UniformTokens(low=2, high=3)).output_tokens
    assert drawn[1] == 9
    assert set(drawn[[0, 2]].tolist()) <= {2, 3}


def test_recorded_outputs_are_kept_and_the_others_are_private(tmp_path: Path) -> None:
    rows = ['{"bid": 1, "tokens": [5], "output_ids": [8, 9]}', '{"bid": 1, "tokens": [5], "output_tokens": 3}']
    some = read(tmp_path, *rows)
    assert some.output_tokens.tolist() == [2, 3]
    assert some.output_ids is not None
    assert some.output_ids.symbols.tolist() == [8, 9]
    assert some.output_recorded is not None
    assert some.output_recorded.tolist() == [True, False]
    assert read(tmp_path, rows[0]).output_recorded is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"bid": 1, "tokens": []}', "w.jsonl:2: prompt: found 0 tokens; expected at least 1 in a simulation."),
        (
            '{"bid": 1, "tokens": [1], "output_tokens": 0}',
            "w.jsonl:2: output_tokens: found 0 tokens; expected at least 1",
        ),
        (
            '{"bid": 1, "tokens": [1], "output_ids": []}',
            "w.jsonl:2: output_tokens: found 0 tokens; expected at least 1",
        ),
    ],
)
def test_nothing_to_read_or_to_say_is_an_error_in_a_simulation(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, '{"bid": 1, "tokens": [1]}', row)
    assert message in str(caught.value)


def test_dates_are_counted_from_the_first(tmp_path: Path) -> None:
    demand = read(tmp_path, *(f'{{"bid": 1, "tokens": [1], "arrival_s": {t}}}' for t in (1773066274.5, 1773066280)))
    assert demand.arrival_ns is not None
    assert demand.arrival_ns.tolist() == [0, 5_500_000_000]
    assert "dates" in demand.warnings[0]


def test_what_is_recorded_is_seen_in_the_first_row(tmp_path: Path) -> None:
    assert workload(tmp_path, "", '{"bid": 1, "tokens": [1]}').recorded() == {"users", "values", "bids"}
    timed = workload(tmp_path, '{"bid": 1, "tokens": [1], "arrival_s": 0}')
    assert timed.recorded() == {"users", "values", "bids", "arrivals"}
    assert workload(tmp_path, "").recorded() == {"users", "values", "bids"}


def test_blocks_without_a_size_take_the_workloads(tmp_path: Path) -> None:
    demand = workload(tmp_path, '{"bid": 1, "hash_ids": [1, 2], "input_length": 17}', block_tokens=16).generate(
        partial(stream, 0, 0)
    )
    np.testing.assert_array_equal(demand.prompts.num_tokens, [17])

"""The options all traces share: window, lengths, limits, counts."""

from pathlib import Path
from typing import Any

import pytest
from trace_kit import arrivals_s, csv_of, jsonl_of, prompts_of, read, refusal

from sim.errors import ScenarioError
from sim.requests import Demand
from sim.workloads.mooncake import Mooncake


def mooncake(folder: Path, *rows: tuple[float, int, int, list[int]], **options: Any) -> Demand:
    records = [
        {"timestamp": t, "input_length": tokens, "output_length": output, "hash_ids": ids}
        for t, tokens, output, ids in rows
    ]
    return read("mooncake", jsonl_of(folder / "t.jsonl", *records), **options)


def test_a_window_is_cut_from_the_sorted_trace_before_anything_is_counted(tmp_path: Path) -> None:
    rows = [(1000 * t, 0 if t == 9 else 5, t % 2, [t][: t != 9]) for t in (3, 1, 2, 9, 4)]
    demand = mooncake(tmp_path, *rows, start_s=2.0, end_s=9.0)
    assert demand.request_id == ("1",)
    assert arrivals_s(demand) == [1.0]
    outside = {"before start_s: 2 or from end_s: 9 on": 2}
    assert demand.dropped == {**outside, "zero output": 2}, "the empty prompt at 9 s lies outside"


def test_the_first_requests_are_counted_after_all_drops(tmp_path: Path) -> None:
    rows = [(0, 5, 0, [1]), (1, 900, 2, [2, 3]), (2, 5, 1, [4]), (3, 6, 1, [5])]
    demand = mooncake(tmp_path, *rows, num_requests=1, max_prompt_tokens=100, over_limit="skip")
    assert demand.request_id == ("3",)
    assert demand.dropped == {"zero output": 1, "prompt over 100 tokens": 1}


def test_o19_calls_without_output_can_be_kept_as_one_token(tmp_path: Path) -> None:
    demand = mooncake(tmp_path, (0, 5, 0, [1]), (1, 5, 7, [1]), zero_output="keep")
    assert demand.output_tokens.tolist() == [1, 7]
    assert demand.dropped == {}


def test_lengths_shrink_symbol_by_symbol_and_share_as_before(tmp_path: Path) -> None:
    demand = mooncake(tmp_path, (0, 1030, 100, [1, 2, 3]), (0, 512, 4, [1]), length_scale=0.1)
    assert prompts_of(demand) == [[(1, 51), (2, 51), (3, 1)], [(1, 51)]]
    assert demand.output_tokens.tolist() == [10, 1]


def test_lengths_can_grow_but_not_beyond_32_bits(tmp_path: Path) -> None:
    assert mooncake(tmp_path, (0, 3, 5, [1]), length_scale=2.5).prompts.num_tokens.tolist() == [8]
    with pytest.raises(ScenarioError, match=r"workload\.length_scale: found 1e\+20"):
        mooncake(tmp_path, (0, 3, 5, [1]), length_scale=1e20)


def test_token_ids_have_no_length_to_scale(tmp_path: Path) -> None:
    record = {"input_toks": 1, "output_toks": 1, "arrival_time_ns": 0, "input_tok_ids": [1], "output_tok_ids": [2]}
    path = jsonl_of(tmp_path / "t.jsonl", record)
    assert "single tokens cannot shrink or grow" in refusal("sharegpt-ids", path, length_scale=0.5)


def test_o11_long_prompts_are_rejected_cut_or_skipped(tmp_path: Path) -> None:
    rows = [(0, 126195, 332, list(range(247))), (0, 600, 1, [1, 2]), (0, 513, 1, [1, 2])]
    rejected = mooncake(tmp_path, *rows, max_prompt_tokens=600)
    assert rejected.refused is not None
    assert rejected.refused.tolist() == [True, False, False]
    cut = mooncake(tmp_path, *rows, max_prompt_tokens=513, over_limit="truncate")
    assert prompts_of(cut) == [[(0, 512), (1, 1)], [(1, 512), (2, 1)], [(1, 512), (2, 1)]]
    assert cut.warnings == ("2 of 3 prompts are cut to 513 tokens",)
    skipped = mooncake(tmp_path, *rows, max_prompt_tokens=600, over_limit="skip")
    assert skipped.dropped == {"prompt over 600 tokens": 1}
    assert skipped.request_id == ("2", "3")
    nothing = mooncake(tmp_path, *rows, max_prompt_tokens=200_000)
    assert (nothing.refused, nothing.warnings, nothing.dropped) == (None, (), {})


def test_a_limit_counts_scaled_tokens(tmp_path: Path) -> None:
    demand = mooncake(tmp_path, (0, 1000, 1, [1, 2]), length_scale=0.1, max_prompt_tokens=100, over_limit="skip")
    assert demand.prompts.num_tokens.tolist() == [100]


def test_token_prompts_can_be_cut(tmp_path: Path) -> None:
    record = {
        "arrival_time_ns": 0,
        "input_tok_ids": [7, 8, 9],
        "output_tok_ids": [2],
        "input_toks": 3,
        "output_toks": 1,
    }
    demand = read("sharegpt-ids", jsonl_of(tmp_path / "t.jsonl", record), max_prompt_tokens=2, over_limit="truncate")
    assert prompts_of(demand) == [[(7, 1), (8, 1)]]


def test_a_window_needs_a_clock(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "num_prefill_tokens,num_decode_tokens", "5,1")
    for option in ({"start_s": 1.0}, {"end_s": 5.0}):
        assert "the trace has no clock" in refusal("splitwise", path, **option)
    assert len(read("splitwise", path).prompts) == 1


def test_an_empty_window_is_refused_by_its_key(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"end_s: found 2\.0; expected more than start_s, which is 3\.0"):
        Mooncake(path=tmp_path, start_s=3.0, end_s=2.0)


def test_recorded_outputs_stay_beside_their_requests(tmp_path: Path) -> None:
    def record(time: int, *ids: int) -> dict[str, Any]:
        answer = [90 + time] * time
        return {
            "arrival_time_ns": time, "input_tok_ids": list(ids), "output_tok_ids": answer,
            "input_toks": len(ids), "output_toks": time,
        }  # fmt: skip

    path = jsonl_of(tmp_path / "t.jsonl", record(2, 5, 6), record(1, 5), record(0, 5, 7))
    demand = read("sharegpt-ids", path)
    assert demand.output_ids is not None
    assert demand.output_ids.symbols.tolist() == [91, 92, 92]
    kept = read("sharegpt-ids", path, zero_output="keep")
    assert kept.output_recorded is not None
    assert kept.output_recorded.tolist() == [False, True, True]
    assert kept.output_tokens.tolist() == [1, 1, 2]


def test_a_scale_that_rounds_pieces_away_is_said(tmp_path: Path) -> None:
    rows = [(0, 1030, 100, [1, 2, 3]), (0, 512, 4, [1])]  # pieces of 512, 512, 6 and 512 tokens
    said = (
        "length_scale 0.0005 leaves 100.0% of the prompts' pieces at 1 token, which is more than their share: the hit"
    )
    (warning,) = mooncake(tmp_path, *rows, length_scale=0.0005).warnings
    assert warning.startswith(said)
    assert mooncake(tmp_path, *rows, length_scale=0.1).warnings == ()
    (warning,) = mooncake(tmp_path, *rows, length_scale=0.01).warnings
    assert "leaves 25.0% of" in warning


def test_one_end_of_a_window_is_named_alone(tmp_path: Path) -> None:
    rows = [(1000 * t, 5, 1, [t]) for t in (1, 2, 3)]
    assert mooncake(tmp_path, *rows, start_s=1.5).dropped == {"before start_s: 1.5": 1}
    assert mooncake(tmp_path, *rows, end_s=2.0).dropped == {"from end_s: 2 on": 2}

"""Token ids of prompts and answers."""

from pathlib import Path

from trace_kit import jsonl_of, prompts_of, read, refusal

RECORD = {
    "input_toks": 3, "output_toks": 2, "arrival_time_ns": 46926808, "input_tok_ids": [5971, 2927, 220],
    "output_tok_ids": [7, 8],
}  # fmt: skip


def test_prompts_and_answers_are_token_ids(tmp_path: Path) -> None:
    demand = read("sharegpt-ids", jsonl_of(tmp_path / "t.jsonl.gz", RECORD))
    assert prompts_of(demand) == [[(5971, 1), (2927, 1), (220, 1)]]
    assert demand.output_ids is not None
    assert demand.output_ids.symbols.tolist() == [7, 8]
    assert demand.output_tokens.tolist() == [2]


def test_there_are_as_many_ids_as_stated(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", RECORD, {**RECORD, "output_toks": 3})
    expected = "t.jsonl:2: output_tok_ids: found 2 ids; expected as many as output_toks, which is 3"
    assert expected in refusal("sharegpt-ids", path)
    path = jsonl_of(tmp_path / "t.jsonl", {**RECORD, "input_tok_ids": [1, -2, 3]})
    assert "input_tok_ids: found -2; expected ids of 0 or more" in refusal("sharegpt-ids", path)

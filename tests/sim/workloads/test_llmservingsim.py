"""LLMServingSim's nanoseconds and lengths."""

from pathlib import Path

from trace_kit import arrivals_s, jsonl_of, prompts_of, read, refusal


def test_oddity_o32_nanoseconds_and_no_prefixes(tmp_path: Path) -> None:
    first = {"input_toks": 27369, "output_toks": 1626, "arrival_time_ns": 101537000}
    demand = read("llmservingsim", jsonl_of(tmp_path / "t.jsonl", first, {**first, "arrival_time_ns": 144370000}))
    assert arrivals_s(demand) == [0.101537, 0.14437]
    (a,), (b,) = prompts_of(demand)
    assert (a[1], b[1]) == (27369, 27369)
    assert a[0] != b[0]
    assert demand.output_tokens.tolist() == [1626, 1626]


def test_token_ids_are_another_kind(tmp_path: Path) -> None:
    record = {"input_toks": 1, "output_toks": 1, "arrival_time_ns": 0, "input_tok_ids": [5], "output_tok_ids": [5]}
    assert "Write kind: sharegpt-ids." in refusal("llmservingsim", jsonl_of(tmp_path / "t.jsonl", record))

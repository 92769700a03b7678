"""RAGPulse: named lists, side files, two recordings of one week."""

import json
from pathlib import Path
from typing import Any

import pytest
from trace_kit import arrivals_s, jsonl_of, prompts_of, read, refusal

LENGTHS = {
    "1_sys_prompt": ("sys_prompt_id", {8302: 512, 14332: 512, 15199: 437}),
    "2_passages": ("passage_id", {1416: 300, 1417: 20, 1420: 5}),
    "3_history": ("history_id", {15200: 11}),
    "4_user_input": ("user_input_id", {26923: 7, 26673: 9}),
    "5_web_search": ("web_search_id", {20319: 40}),
}


def record(time: str, length: int, *, passages: tuple[int, ...] = (), web: tuple[int, ...] = ()) -> dict[str, Any]:
    ids = {
        "sys_prompt": [8302, 14332, 15199], "passages_ids": list(passages), "history": [15200],
        "web_search": list(web), "user_input": [26923],
    }  # fmt: skip
    return {"timestamp": time, "input_length": length, "output_length": 192, "hash_ids": ids, "session_id": f"s{time}"}


def folder(path: Path, *records: dict[str, Any]) -> Path:
    for name, (key, lengths) in LENGTHS.items():
        lines = [json.dumps({key: piece, "token_length": tokens}) for piece, tokens in lengths.items()]
        (path / f"{name}.jsonl").write_text("\n".join(lines) + "\n\n")
    jsonl_of(path / "0_trace.jsonl", *records)
    return path


PIECES = [(8302, 512), (14332, 512), (15199, 437), (1417, 20), (15200, 11), (20319, 40), (26923, 7)]  # 1,539 tokens


def test_oddity_o04_ids_in_named_lists_and_seconds_as_text(tmp_path: Path) -> None:
    demand = read("ragpulse", folder(tmp_path, record("82", 1547, passages=(1417,), web=(20319,))))
    assert arrivals_s(demand) == [82.0]
    (prompt,) = prompts_of(demand)
    assert prompt[:-1] == PIECES
    assert prompt[-1][0] < 0, "the template is private"
    assert prompt[-1][1] == 8
    assert demand.session == ("s82",)


def test_oddity_o05_two_recordings_of_one_week_are_merged(tmp_path: Path) -> None:
    demand = read("ragpulse", folder(tmp_path, *(record(time, 1547) for time in ("82", "604453", "0", "82"))))
    assert arrivals_s(demand) == [0.0, 82.0, 82.0, 604453.0]
    assert demand.request_id == ("3", "1", "4", "2")
    assert "steps back once, first on line 3, from 604453 s to 0 s" in demand.warnings[0]


def test_oddity_o07_side_files_have_blank_lines_and_ids_by_other_names(tmp_path: Path) -> None:
    assert (folder(tmp_path, record("0", 1547)) / "2_passages.jsonl").read_text().endswith("}\n\n")
    assert read("ragpulse", tmp_path).prompts.num_tokens.tolist() == [1547]
    assert read("ragpulse", tmp_path / "0_trace.jsonl").prompts.num_tokens.tolist() == [1547]


def test_oddity_o08_the_same_passage_twice(tmp_path: Path) -> None:
    passages = (1417, 1417, 1416, 1416, 1420, 1420)
    (prompt,) = prompts_of(read("ragpulse", folder(tmp_path, record("0", 2179, passages=passages))))
    assert [piece for piece, _ in prompt[3:9]] == list(passages)


def broken(path: Path, name: str, text: str) -> Path:
    (folder(path, record("0", 1547)) / name).write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("0_trace.jsonl", json.dumps(record("0", 1000)), "input_length: found 1000; expected at least the 1479 tokens"),
        (
            "0_trace.jsonl",
            json.dumps(record("0", 1547, passages=(3,))),
            "hash_ids.passages_ids: found 3; expected an id of",
        ),
        (
            "0_trace.jsonl",
            json.dumps({**record("0", 1547), "hash_ids": [1]}),
            "hash_ids: found [1]; expected the lists",
        ),
        (
            "0_trace.jsonl",
            json.dumps(record("noon", 1547)),
            'timestamp: found "noon"; expected a finite number, 0 or more',
        ),
        (
            "3_history.jsonl",
            '{"history_id": 1, "token_length": 2}\n' * 2,
            "found 1 for the second time; expected each id",
        ),
        ("3_history.jsonl", '{"passage_id": 1, "token_length": 2}', 'found the unknown key "passage_id"'),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    assert complaint in refusal("ragpulse", broken(tmp_path, name, text))


def test_the_side_files_must_be_there(tmp_path: Path) -> None:
    (folder(tmp_path, record("0", 1547)) / "5_web_search.jsonl").unlink()
    assert "5_web_search.jsonl: found no such file" in refusal("ragpulse", tmp_path)

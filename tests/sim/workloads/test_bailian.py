"""Bailian's seconds, blocks of sixteen, and chats."""

from pathlib import Path
from typing import Any

from trace_kit import arrivals_s, jsonl_of, prompts_of, read, refusal


def turn(chat: int, parent: int, time: float, *ids: int) -> dict[str, Any]:
    return {
        "chat_id": chat, "parent_chat_id": parent, "timestamp": time, "input_length": 16 * len(ids),
        "output_length": 3, "type": "text", "turn": 1, "hash_ids": list(ids),
    }  # fmt: skip


def test_c13_seconds_and_blocks_of_sixteen(tmp_path: Path) -> None:
    demand = read("bailian", jsonl_of(tmp_path / "t.jsonl", turn(159, -1, 61.114, 1, 2)))
    assert arrivals_s(demand) == [61.114]
    assert prompts_of(demand) == [[(1, 16), (2, 16)]]


def test_a_chat_is_a_first_turn_and_all_that_descend_from_it(tmp_path: Path) -> None:
    rows = [turn(7, -1, 0, 1), turn(8, 7, 2, 1, 2), turn(20, 99, 1, 5), turn(9, 8, 3, 1, 2, 3)]
    demand = read("bailian", jsonl_of(tmp_path / "t.jsonl", *rows))
    assert demand.session == ("chat-7", "chat-20", "chat-7", "chat-7")
    assert demand.turn is not None
    assert demand.turn.tolist() == [0, 0, 1, 2]
    assert demand.cluster.tolist() == [0, 1, 0, 0]
    assert demand.request_id == ("7", "20", "8", "9")


def test_a_child_may_stand_before_its_parent(tmp_path: Path) -> None:
    rows = [turn(9, 8, 3, 1, 2, 3), turn(8, 7, 2, 1, 2), turn(20, 7, 9, 4), turn(7, -1, 0, 1)]
    demand = read("bailian", jsonl_of(tmp_path / "t.jsonl", *rows))
    assert demand.request_id == ("7", "8", "9", "20")
    assert demand.session == ("chat-7",) * 4
    assert demand.turn is not None
    assert demand.turn.tolist() == [0, 1, 2, 3]


def test_nobody_descends_from_itself(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", turn(1, 2, 0, 1), turn(2, 1, 1, 1))
    assert 't.jsonl:2: parent_chat_id: found "1"; expected no descendant of its own' in refusal("bailian", path)

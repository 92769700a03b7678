"""JSON documents whose every value has an address."""

from __future__ import annotations

import gzip
from functools import reduce
from pathlib import Path

import pytest
from real_files import save

from sim.errors import ScenarioError
from sim.workloads._json_items import Item, read_json, read_json_lines


def refusal(item: Item, *steps: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        reduce(Item.__getitem__, steps, item).text()
    return str(caught.value)


def test_values_are_reached_by_key_and_by_iteration() -> None:
    item = Item({"data": [{"title": "Bread"}, {"title": "Salt"}]}, "a.json")
    assert [entry["title"].text() for entry in item["data"]] == ["Bread", "Salt"]
    assert [entry.where for entry in item["data"]] == ["a.json: data[0]", "a.json: data[1]"]


def test_every_complaint_has_an_address() -> None:
    item = Item({"data": [{"title": 3}], "text": "\ud800"}, "a.json")
    assert refusal(item, "dta") == 'a.json: dta: found nothing; expected the key "dta".'
    assert refusal(item, "data", "title").startswith("a.json: data: found [{")
    assert refusal(next(iter(item["data"])), "title") == "a.json: data[0].title: found 3; expected a text."
    assert "half a surrogate pair" in refusal(item, "text")
    with pytest.raises(ScenarioError, match=r"a\.json: text: found .*; expected a list"):
        iter(item["text"])


def test_null_is_as_good_as_absent() -> None:
    item = Item({"content": None}, "a.json")
    assert "content" not in item
    assert "content" not in item["content"]


def test_gzip_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    assert read_json(save(tmp_path / "a.json.gz", {"a": "é"}))["a"].text() == "é"
    (tmp_path / "b.json").write_bytes(b'\xef\xbb\xbf{"a": "b"}\r\n')
    assert read_json(tmp_path / "b.json")["a"].text() == "b"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b'{"a": 1,\n "b"}', r"a\.json:2: found Expecting ':' delimiter at column 5; expected JSON"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "without end"),
        (b"", r"a\.json:1: found Expecting value"),
        (b"1" * 5000, "a\\.json: found an integer of thousands of digits"),
    ],
)
def test_what_is_not_json_is_refused(tmp_path: Path, data: bytes, complaint: str) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(ScenarioError, match=complaint):
        read_json(tmp_path / "a.json")


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"a": "and so on"}')[:-9])
    with pytest.raises(ScenarioError, match="broken archive"):
        read_json(tmp_path / "a.json.gz")
    with pytest.raises(ScenarioError, match="No such file"):
        read_json(tmp_path / "absent.json")


def test_lines_are_numbered_blank_ones_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}', encoding="utf-8")
    assert [item["a"].where for item in read_json_lines(path)] == [f"{path}:1: a", f"{path}:3: a"]
    path.write_text('{"a": 1}\n{"a": }', encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"a\.jsonl:2: .*expected one JSON document a line"):
        list(read_json_lines(path))


@pytest.mark.parametrize(
    ("line", "complaint"), [("1" * 5000, "an integer of thousands of digits"), ("[" * 100_000, "without end")]
)
def test_a_line_that_python_cannot_read_is_refused_by_its_number(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "a.jsonl").write_text(f"1\n{line}\n")
    with pytest.raises(ScenarioError, match=rf"a\.jsonl:2: found .*{complaint}"):
        list(read_json_lines(tmp_path / "a.jsonl"))

"""CSV rows: what numbers look like as text, and where errors point."""

from pathlib import Path

import pytest
from trace_kit import csv_of

from sim.csv_rows import TextRow, csv_header, read_csv
from sim.errors import ScenarioError


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("5.8926549999999995", 5.892655), (" 1e3 ", 1000), ("+.5", 0.5)])
def test_a_number_is_its_digits(text: str, value: float) -> None:
    assert TextRow({"x": text}, "f", 2).number("x") == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "nan", "inf", "-1", "1_000", "1,5", "0x10", "1e999", "½", "ten"])
def test_a_number_is_nothing_else(text: str) -> None:
    with pytest.raises(ScenarioError, match="f:2: x: found"):
        TextRow({"x": text}, "f", 2).number("x")


@pytest.mark.parametrize("text", ["", "1.0", "-1", "1_0", "٣", "9223372036854775808", "9" * 5000])
def test_an_integer_is_digits_that_fit(text: str) -> None:
    with pytest.raises(ScenarioError, match="expected an integer, 0 or more"):
        TextRow({"x": text}, "f", 2).integer("x")


def test_what_is_no_text_is_checked_as_in_json() -> None:
    row = TextRow({"a": 5, "b": 2.5, "c": True}, "f", 2)
    assert (row.integer("a"), row.number("b")) == (5, 2.5)
    with pytest.raises(ScenarioError, match="f:2: c: found true"):
        row.integer("c")


def test_lines_are_counted_through_blank_ones_and_quoted_newlines(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "\ufeffa, b ", "", '1,"two\r\nlines"', "", "3,4", end="\r\n")
    rows = list(read_csv(path, ("a", "b")))
    assert [(row.line, row.data) for row in rows] == [(4, {"a": "1", "b": "two\r\nlines"}), (6, {"a": "3", "b": "4"})]
    assert csv_header(path) == ["a", "b"]
    assert csv_header(csv_of(path)) == []


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (("a,a", "1,2"), 't.csv:1: found the column "a" twice'),
        (("a,b", "1,2,3"), "t.csv:2: found 3 fields; expected 2"),
        (("a,b", '1,"2'), "t.csv:2: found unexpected end of data"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, lines: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        list(read_csv(csv_of(tmp_path / "t.csv", *lines), ("a",)))


def test_a_header_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"t\.csv:1: found field larger than field limit"):
        csv_header(csv_of(tmp_path / "t.csv", "x" * 200_000))

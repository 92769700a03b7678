"""Azure's dates and holes."""

from pathlib import Path

import pytest
from trace_kit import arrivals_s, csv_of, prompts_of, read, refusal

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def test_oddity_o01_seven_fractional_digits_count_from_the_first_arrival(tmp_path: Path) -> None:
    lines = ["2023-11-16 18:17:03.9799600,4808,10", "2023-11-16 18:17:04.0321000,3180,8", "2023-11-17 00:00:00,5,6"]
    demand = read("azure", csv_of(tmp_path / "t.csv", HEADER, *lines))
    assert arrivals_s(demand) == [0.0, 0.05214, 20576.02004]
    assert demand.warnings == ()


def test_oddity_o02_crlf_and_a_last_line_without_an_end(tmp_path: Path) -> None:
    lines = ["2023-11-16 19:14:18.0000000,1,2", "2023-11-16 19:14:19.9280160,549,173"]
    demand = read("azure", csv_of(tmp_path / "t.csv", "\ufeff" + HEADER, *lines, end="\r\n"))
    assert demand.prompts.num_tokens.tolist() == [1, 549]
    assert demand.output_tokens.tolist() == [2, 173]
    assert demand.request_id == ("2", "3")


def test_prompts_share_nothing(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", HEADER, *["2023-11-16 19:14:18Z,700,2"] * 3)
    assert [prompt[0][1] for prompt in prompts_of(read("azure", path))] == [700] * 3
    assert len({prompt[0][0] for prompt in prompts_of(read("azure", path))}) == 3


def test_a_step_back_is_sorted_and_said(tmp_path: Path) -> None:
    lines = ["2023-11-16 19:00:05,1,1", "2023-11-16 19:00:00,2,2", "2023-11-16 19:00:05,3,3"]
    demand = read("azure", csv_of(tmp_path / "t.csv", HEADER, *lines))
    assert demand.request_id == ("3", "2", "4")
    assert "the clock steps back once, first on line 3, from 5 s to 0 s" in demand.warnings[0]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("16/11/2023 18:17,1,1", 't.csv:3: TIMESTAMP: found "16/11/2023 18:17"; expected a date in UTC'),
        ("2023-02-30 18:17:00,1,1", "expected a day between 1970 and 2261"),
        ("2023-02-03 24:17:00,1,1", "expected a time of the day"),
        ("2023-11-16 18:17:03+02:00,1,1", "expected a date in UTC"),
        ("2019-11-16 18:17:03,1,1", "t.csv:2: TIMESTAMP: found a date 1,461 days after that on line 3"),
        ("2023-11-16 18:17:03,-1,1", 't.csv:3: ContextTokens: found "-1"; expected an integer, 0 or more'),
        ("2023-11-16 18:17:03,1.5,1", 't.csv:3: ContextTokens: found "1.5"'),
        ("2023-11-16 18:17:03,1,", 't.csv:3: GeneratedTokens: found ""'),
        ("2023-11-16 18:17:03,1", "t.csv:3: found 2 fields; expected 3, as in the header"),
        ("2023-11-16 18:17:03,9999999999,1", "expected below 2,147,483,648 tokens"),
    ],
)
def test_what_is_not_the_format_is_refused_by_line_and_column(tmp_path: Path, line: str, complaint: str) -> None:
    path = csv_of(tmp_path / "t.csv", HEADER, "2023-11-16 18:17:03,1,1", line)
    assert complaint in refusal("azure", path)


def test_the_columns_must_be_there(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "TIMESTAMP,ContextToken,GeneratedTokens")
    assert "t.csv:1: found the columns TIMESTAMP, ContextToken" in refusal("azure", path)
    assert 'Did you mean "ContextToken"?' in refusal("azure", path)
    assert "t.csv:1: found an empty file" in refusal("azure", csv_of(tmp_path / "t.csv"))

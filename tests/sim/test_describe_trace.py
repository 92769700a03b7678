"""`describe` from the command line: the kind is stated, never guessed; table, JSON and page."""

import json
import sys
from pathlib import Path

import pytest
from command_line import run_cli, write_small
from rich.progress import Progress
from trace_kit import csv_of, jsonl_of

from sim.describe_trace import kinds_of

MOONCAKE = {"timestamp": 27482, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}


def test_c13_no_kind_says_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "describe", jsonl_of(tmp_path / "t.jsonl", MOONCAKE))
    assert (done.code, done.out) == (2, "")
    assert "t.jsonl: found no --kind; expected the format of the trace: units are not guessed." in done.err
    assert "Its keys are those of mooncake (times in ms, blocks of 512 tokens): write --kind mooncake." in done.err


def test_c13_keys_that_fit_several_formats_name_them_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"timestamp": 61.114, "turn": 1, "chat_id": 159, "input_length": 9, "output_length": 1, "hash_ids": [1]}
    done = run_cli(capsys, "describe", jsonl_of(tmp_path / "t.jsonl", record))
    assert "--kind bailian (times in s, blocks of 16 tokens)" in done.err
    assert "--kind mooncake (times in ms, blocks of 512 tokens)" in done.err


def test_c13_an_unknown_table_is_refused_with_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "describe", csv_of(tmp_path / "t.csv", "when,how long", "1,2"))
    assert done.code == 2
    assert "Known: aiperf, azure, bailian, burstgpt" in done.err
    assert "kind: table" in done.err
    empty = run_cli(capsys, "describe", csv_of(tmp_path / "t.csv"))
    assert (empty.code, "no --kind" in empty.err) == (2, True)


def test_candidates_are_the_formats_whose_keys_are_all_there() -> None:
    keys = {"timestamp", "input_length", "output_length", "hash_ids", "session_id", "request_id", "type"}
    assert set(kinds_of(frozenset(keys))) == {"aiperf", "mooncake", "ragpulse", "servegen"}
    assert kinds_of(frozenset()) == {}


def test_json_goes_to_stdout_and_the_page_to_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = jsonl_of(tmp_path / "t.jsonl", MOONCAKE, MOONCAKE), tmp_path / "pages" / "t.html"
    done = run_cli(capsys, "describe", path, "--kind", "mooncake", "--json", "--out", page, "--kv-tokens", "599")
    assert done.code == 0
    found = json.loads(done.out)
    assert (found["prefix_hit_rate"], found["num_above_kv"]) == (599 / 1200, 2)
    assert f"page: {page}" in done.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_table_says_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = jsonl_of(tmp_path / "[t].jsonl", MOONCAKE, MOONCAKE, {**MOONCAKE, "output_length": 0})
    done = run_cli(capsys, "describe", path, "--kind", "mooncake")
    words = " ".join(done.out.split())
    for expected in ("[t].jsonl (mooncake)", "all at once", "49.9% of prompt tokens", "left out: zero output", "1,200"):
        assert expected in words
    assert "warning: ties: 50.0% of the requests" in words
    assert run_cli(capsys, "describe", path, "--kind", "mooncake", "--quiet").out == ""


def test_options_of_the_format_are_set_by_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", {**MOONCAKE, "hash_ids": [1]})
    done = run_cli(capsys, "describe", path, "--kind", "mooncake", "--json", "--set", "block_tokens=600")
    assert json.loads(done.out)["prompt_tokens"]["max"] == 600
    wrong = run_cli(capsys, "describe", path, "--kind", "mooncake", "--set", "block_token=600")
    assert 'Did you mean "block_tokens"?' in wrong.err
    assert run_cli(capsys, "describe", path, "--kind", "mooncake", "--set", "600").code == 2
    assert 'Did you mean "mooncake"?' in run_cli(capsys, "describe", path, "--kind", "moncake").err
    assert "no such file" in run_cli(capsys, "describe", tmp_path / "absent.jsonl", "--kind", "mooncake").err


def test_a_scenario_describes_its_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "describe", write_small(tmp_path), "--json", "--set", "workload.num_requests=12")
    found = json.loads(done.out)
    assert (found["kind"], found["num_requests"], found["arrivals"]) == ("stars", 12, None)


def test_reading_is_shown_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", *[MOONCAKE] * 9000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(Progress, "update", lambda _, __, *, completed, **more: seen.append((completed, len(more))))
    assert run_cli(capsys, "describe", path, "--kind", "mooncake", "--json").code == 0
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == path.stat().st_size
    seen.clear()
    assert run_cli(capsys, "describe", path, "--kind", "mooncake", "--json", "--quiet").code == 0
    assert seen == []

"""`describe` from the command line: the kind is stated, never guessed; table, JSON and page."""

import json
import sys
from pathlib import Path

import pytest
from command_line import run_cli, write_small
from rich.progress import Progress
from trace_kit import csv_of, jsonl_of

from backends._profile import load_profile
from sim.describe_trace import describe_trace, kinds_of

AGENT = Path(__file__).resolve().parents[1] / "contract" / "workload_examples" / "agent.traj"
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
    for expected in (
        "[t].jsonl (mooncake)",
        "all at once",
        "cache of prompts only",
        "49.9% of prompt tokens",
        "left out: zero output",
        "1,200",
    ):
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


def test_prompts_are_compared_with_the_scenarios_own_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_small(tmp_path)

    def compared(*arguments: str) -> int:
        return int(json.loads(run_cli(capsys, "describe", path, "--json", *arguments).out)["kv_tokens"])

    assert compared() == 1000
    assert compared("--kv-tokens", "70") == 70
    assert compared("--set", "backend.kv_tokens=null") == 23_000, "unbounded: nothing of its own to compare with"
    card = load_profile("h100-qwen3-8b")
    assert compared("--set", "backend={use: simulated, profile: h100-qwen3-8b}") == card.kv_tokens


def test_a_shipped_scenario_is_known_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "describe", "mixshare-50", "--json")
    assert (done.code, json.loads(done.out)["num_requests"]) == (0, 1024)
    assert 'Did you mean "mixshare-50"?' in run_cli(capsys, "describe", "mixshar-50").err
    rows = ("TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:17:03.9799600,374,44")
    trace = f"workload.path={csv_of(tmp_path / 'azure.csv', *rows)}"
    assert run_cli(capsys, "describe", "traces/azure", "--set", trace).code == 0
    assert run_cli(capsys, "check", "traces/azure", "--set", trace).code == 0


def test_a_kind_takes_the_file_by_its_own_key(capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "describe", AGENT, "--kind", "swe-agent", "--json", "--set", "tokenizer=null")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["num_requests"] == AGENT.read_text(encoding="utf-8").count('"assistant"'), "once"


@pytest.mark.parametrize(
    ("kind", "found", "hint"),
    [
        ("squad-gsm8k", "several files", "describe real-mixshare-50."),
        ("tree-of-thought", "no one file to read", "describe real-long-tree or describe real-short-tree."),
        ("chains", "no one file to read", "describe chains"),
    ],
)
def test_a_kind_of_no_or_several_files_asks_for_a_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, found: str, hint: str
) -> None:
    done = run_cli(capsys, "describe", jsonl_of(tmp_path / "t.jsonl", MOONCAKE), "--kind", kind)
    assert done.code == 2
    assert f"--kind {kind}: found a kind with {found}; expected a kind that reads one file." in done.err
    assert "Write a scenario; shipped ones: " in done.err
    assert hint in done.err


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


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("x" * 200_000, "t.jsonl:2: found field larger than field limit"),
        ('{"a": ' + "1" * 5000 + "}", "t.jsonl:2: found an integer of thousands of digits"),
        ("[" * 100_000, "t.jsonl:2: found lists within lists without end"),
    ],
)
def test_a_first_line_that_is_no_record_is_refused_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, complaint: str
) -> None:
    done = run_cli(capsys, "describe", csv_of(tmp_path / "t.jsonl", "", line))
    assert done.code == 2
    assert complaint in done.err


def test_a_batch_whose_lines_are_not_in_time_is_described_in_time(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "b.jsonl", *({"bid": 1.0, "tokens": [1, t], "arrival_s": t} for t in (9, 0, 4)))
    found = describe_trace(path, "jsonl", (), None, {})
    assert found.arrivals is not None
    assert (found.arrivals.span_s, found.arrivals.requests[0]) == (9.0, 1)

"""Servers that start late, hang, die or come back as another one (CASES.md 28), and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import run_cli
from fake_server import RESTART, FakeServer, fake_server, healthy, unused_port
from faults_kit import SMALL, on, scenario_text, served

from sim.errors import BackendError


def at_request(number: int, *steps: Any) -> Any:
    def script(fake: FakeServer, n: int, body: dict[str, Any]) -> Iterable[Any]:
        return steps if n == number else healthy(fake, n, body)

    return script


def test_a_server_that_is_still_loading_is_waited_for(tmp_path: Path) -> None:
    with fake_server(not_ready=2) as fake:
        result = on(tmp_path, fake.url)
        assert fake.probes == 3
    assert len(served(result, "ok")) == 12


def test_a_server_that_never_answers_a_prompt_is_not_ready(tmp_path: Path) -> None:
    with fake_server(not_ready=10**6) as fake, pytest.raises(BackendError, match="503 X: loading the model"):
        on(tmp_path, fake.url, "sglang", "backend.ready_timeout_s=0.2")


def test_no_server_is_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(scenario_text(f"http://127.0.0.1:{unused_port()}"), encoding="utf-8")
    done = run_cli(capsys, "simulate", path, "--set", "backend.ready_timeout_s=0.1", "--out", tmp_path / "runs")
    assert done.code == 3
    assert "Is the server running at that address?" in done.err
    assert not (tmp_path / "runs").exists()


def test_a_server_that_came_back_as_another_spoils_its_cell_only(tmp_path: Path) -> None:
    """It dies at request 4 of the second cell and is back at once, its counters reset."""
    both = SMALL.replace("[dfs-bid]", "[bid-sort, dfs-bid, no-sort]")
    with fake_server(at_request(16, RESTART)) as fake:
        result = on(tmp_path, fake.url, text=both)
    assert result.status == "failed"
    assert [len(result.trials[label]) for label in ("bid-sort", "dfs-bid", "no-sort")] == [1, 0, 1]
    assert [warning for warning in result.warnings if "restarted" in warning] == [
        "dfs-bid, trial 0: left out of every mean: the server was restarted during the run: it is another one now, "
        "its counters went back"
    ]
    assert result.statuses["dfs-bid"] == {"ok": 11, "incomplete": 1}


def test_a_server_that_dies_leaves_partial_results_and_exit_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.yaml"
    both = SMALL.replace("[dfs-bid]", "[bid-sort, dfs-bid]")

    def die(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[Any]:
        if number == 16:
            fake.stop_listening()
            return ()
        return healthy(fake, number, body)

    with fake_server(die) as fake:
        text = scenario_text(fake.url, text=both)
        path.write_text(text.replace("ready_timeout_s: 60.0", "ready_timeout_s: 0.2"), encoding="utf-8")
        done = run_cli(capsys, "simulate", path, "--out", tmp_path / "runs", "--json", "--no-report")
    assert done.code == 3
    assert "the server was lost on the way" in done.err
    summary = json.loads(done.out)
    run = Path(summary["run_dir"])
    assert json.loads((run / "manifest.json").read_text())["status"] == "failed"
    assert summary["schedules"]["bid-sort"]["statuses"] == {"ok": 12}
    assert summary["schedules"]["dfs-bid"]["statuses"] == {"ok": 4, "error": 7, "incomplete": 1}
    assert summary["schedules"]["dfs-bid"]["trials"] == []
    assert pl.read_parquet(run / "requests.parquet").height == 24


def test_refusing_everything_is_exit_4_with_nulls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CASES E 27: the summary holds nulls, the page renders, the reasons are in the records."""
    path = tmp_path / "scenario.yaml"
    with fake_server(refuses=12) as fake:
        path.write_text(scenario_text(fake.url), encoding="utf-8")
        done = run_cli(capsys, "simulate", path, "--out", tmp_path / "runs", "--json")
    assert done.code == 4
    summary = json.loads(done.out)
    assert summary["schedules"]["dfs-bid"]["mean_ttft_ms"]["mean"] is None
    assert summary["schedules"]["dfs-bid"]["statuses"] == {"error": 12}
    assert (Path(summary["run_dir"]) / "report.html").is_file()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """A process that a shell started in the background ignores SIGINT; here it must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[Any]:
        if number == 6:
            os.kill(os.getpid(), signal.SIGINT)
            fake.closing.wait()
        return healthy(fake, number, body)

    path = tmp_path / "scenario.yaml"
    with fake_server(script) as fake:
        path.write_text(scenario_text(fake.url), encoding="utf-8")
        done = run_cli(capsys, "simulate", path, "--out", tmp_path / "runs", "--json", "--no-report")
    assert done.code == 130
    statuses = json.loads(done.out)["schedules"]["dfs-bid"]["statuses"]
    assert statuses == {"ok": 6, "incomplete": 6}

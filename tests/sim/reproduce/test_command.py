"""The command as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_cli

Capture = pytest.CaptureFixture[str]


def test_data_that_is_not_there_is_refused_with_what_is_needed(capsys: Capture, tmp_path: Path) -> None:
    done = run_cli(capsys, "reproduce", "fig2", "--data", tmp_path)
    assert done.code == 2
    assert f"--data {tmp_path}: found no squad/dev-v2.0.json; expected the data sets" in done.err


def test_an_unknown_figure_is_refused(capsys: Capture) -> None:
    done = run_cli(capsys, "reproduce", "fig9")
    assert done.code == 2
    assert "fig9" in done.err


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.reproduce.reproduction.run_cells", interrupted)
    done = run_cli(capsys, "reproduce", "fig2", "--out", tmp_path)
    assert done.code == 130
    assert f"interrupted: what is finished is in {tmp_path / 'cells'}; the same command goes on" in done.err
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.slow
def test_a_figure_ends_with_its_table_and_pages_and_json_with_its_claims(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "out"
    table = run_cli(capsys, "reproduce", "fig2", "--trials", 2, "--jobs", 2, "--out", out)
    assert table.code == 0, table.err
    assert "fig2 · at n = Q" in table.out
    assert f"page: {out / 'index.html'}" in table.out
    again = run_cli(capsys, "reproduce", "fig2", "--trials", 2, "--json", "--out", out)
    claims = json.loads(again.out)["claims"]
    assert {claim["key"] for claim in claims} >= {"gap", "ttft-over-shapes", "fig2-same"}

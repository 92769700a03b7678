"""A recorded run answers again: same schedule, same records; another schedule, the same answers elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from command_line import SMALL, run_cli, write_small


def record(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, Path]:
    scenario = write_small(folder)
    done = run_cli(capsys, "simulate", scenario, "--out", folder / "runs", "--no-report", "--json")
    return scenario, Path(json.loads(done.out)["run_dir"])


def test_a_replayed_run_has_the_same_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, run = record(tmp_path, capsys)
    again = run_cli(
        capsys, "simulate", scenario, "--backend", "replay", "--set", f"backend.run={run}", "--out", tmp_path / "again",
        "--no-report", "--json",
    )  # fmt: skip
    assert again.code == 0
    first, second = (
        pl.read_parquet(Path(folder) / "requests.parquet") for folder in (run, json.loads(again.out)["run_dir"])
    )
    assert second.columns == first.columns
    assert second.equals(first)


def test_a_run_without_this_schedule_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, run = record(tmp_path, capsys)
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.replace("[dfs-bid, dfs-uniform, bid-sort, no-sort]", "[{use: no-sort, label: mine}]"))
    replay = ("--backend", "replay", "--set", f"backend.run={run}")
    done = run_cli(capsys, "simulate", other, *replay, "--out", tmp_path / "again")
    assert done.code == 3
    assert "no records of mine, trial 0; it has" in done.err
    done = run_cli(capsys, "simulate", other, *replay, "--set", "backend.schedule=no-sort", "--out", tmp_path / "again")
    assert done.code == 0


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = write_small(tmp_path)
    done = run_cli(capsys, "simulate", scenario, "--backend", "replay", "--set", f"backend.run={tmp_path}")
    assert done.code == 3
    assert "is no run folder" in done.err

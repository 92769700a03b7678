"""Whatever lies in a run's or a sweep's folder, `compare` reads it or refuses it by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_cli
from compare_kit import GRID, scenario, write_plain_run, write_sweep

Capsys = pytest.CaptureFixture[str]
Edit = Callable[[dict[str, Any]], None]


def edit(path: Path, change: Edit) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def without(key: str) -> Edit:
    return lambda data: data.pop(key)


def put(value: Any, *steps: str) -> Edit:
    def change(data: dict[str, Any]) -> None:
        for step in steps[:-1]:
            data = data[step]
        data[steps[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (without("fixed"), "sweep.json: fixed"),
        (without("scenario"), "sweep.json: scenario"),
        (put([1], "points"), "sweep.json: points.0"),
        (put("x", "axes"), "sweep.json: axes"),
    ],
)
def test_a_damaged_design_is_named(capsys: Capsys, tmp_path: Path, change: Edit, where: str) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    edit(folder / "sweep.json", change)
    done = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html")
    assert done.code == 2
    assert where in done.err


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put([], "schedules"), "summary.json: schedules"),
        (put([1], "schedules", "dfs-bid"), "summary.json: schedules.dfs-bid"),
        (put([{"hit_rate": "high"}], "schedules", "dfs-bid", "trials"), "summary.json: schedules.dfs-bid.trials.0"),
        (put(float("nan"), "seeds"), "summary.json"),
    ],
)
def test_a_damaged_summary_is_named(capsys: Capsys, tmp_path: Path, change: Edit, where: str) -> None:
    trials = {"dfs-bid": [{"hit_rate": 0.5}], "bid-sort": [{"hit_rate": 0.25}]}
    folder = write_plain_run(tmp_path / "r", scenario(), trials)
    edit(folder / "summary.json", change)
    done = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html", "--json")
    assert done.code == 2
    assert where in done.err


def test_a_cell_of_another_shape_is_named_and_one_with_nan_is_missing(capsys: Capsys, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    first, second = sorted((folder / "cells").iterdir())[:2]
    edit(first, put(float("nan"), "warnings"))
    done = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html", "--json")
    assert done.code == 0
    assert "not run yet" in (tmp_path / "c.html").read_text()
    edit(second, put([], "summary", "schedules"))
    done = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html", "--json")
    assert done.code == 2
    assert f"{second.name}: summary.schedules" in done.err


def test_where_nothing_can_be_written_is_noticed_first(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for option in ("--out", "--png"):
        done = run_cli(capsys, "compare", tmp_path / "no-such-run", option, tmp_path / "file" / "c.html")
        assert done.code == 2
        assert f"{option} " in done.err

"""Sweeps on a Ray of one machine: `make ray`."""

import json
from pathlib import Path

import pytest
from command_line import run_cli, write_small
from sweep_gate import Gate

ray = pytest.importorskip("ray", reason="needs Ray: make ray")
pytestmark = pytest.mark.slow
AXES = ("--set", "batching.size=4,8,16", "--set", "schedule=dfs-bid,no-sort")


def test_ray_leaves_the_bytes_of_local_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_small(tmp_path)
    for name, executor in (("local", ()), ("ray", ("--executor", "ray"))):
        done = run_cli(capsys, "sweep", path, *AXES, "--jobs", 2, "--quiet", "--out", tmp_path / name, *executor)
        assert done.code == 0, done.err
    (local,), (on_ray,) = (tmp_path / "local").iterdir(), (tmp_path / "ray").iterdir()
    for file in ("results.parquet", "sweep.json", *(f"cells/{cell.name}" for cell in (local / "cells").iterdir())):
        assert (local / file).read_bytes() == (on_ray / file).read_bytes()


def test_failures_come_back_from_ray_and_are_tried_again(tmp_path: Path) -> None:
    gate = Gate.at(tmp_path)
    told = gate.tell("fail", 1)
    code, printed, said = gate.done(3, "--executor", "ray", "--jobs", "2", "--json")
    assert code == 5, said
    assert json.loads(printed)["failures"][0]["error"] == "RuntimeError: told to fail at 1"
    told.unlink()
    assert gate.done(3, "--executor", "ray", "--jobs", "2")[0] == 0
    assert sorted(gate.ran) == [0, 1, 1, 2]


def test_a_cluster_that_is_not_there_is_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--executor", "ray", "--address", "127.0.0.1:1")
    done = run_cli(capsys, "sweep", write_small(tmp_path), *AXES, *options, "--out", tmp_path / "out")
    assert done.code == 2
    assert "expected the address of a Ray cluster that runs" in done.err

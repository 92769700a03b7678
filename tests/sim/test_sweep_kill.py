"""Sweeps that are interrupted, killed, or lose a worker: real processes, real signals, told when by files."""

import json
import os
import signal
from pathlib import Path

import polars as pl
import pytest
from sweep_gate import Gate, until


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate.at(tmp_path)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_kill_9_loses_the_cells_under_way_and_no_other(gate: Gate) -> None:
    closed = [gate.tell("closed", number) for number in (4, 5)]
    process = gate.sweep(8, "--jobs", "2")
    until(lambda: len(gate.finished()) == 4 and {4, 5} <= set(gate.ran))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not any(map(alive, gate.pids)))  # nobody works on for a parent that is gone
    for path in closed:
        path.unlink()
    kept = {path: path.read_bytes() for path in gate.finished()}
    assert len(kept) == 4
    assert json.loads((gate.path() / "sweep.json").read_text())["status"] == "partial"
    code, _, said = gate.done(8, "--jobs", "2")
    assert code == 0, said
    assert sorted(gate.ran) == [0, 1, 2, 3, 4, 4, 5, 5, 6, 7]
    assert {path: path.read_bytes() for path in kept} == kept
    code, _, said = gate.done(8, "--jobs", "1", out="undisturbed")
    assert code == 0, said
    for name in ("results.parquet", "sweep.json"):
        assert (gate.path() / name).read_bytes() == (gate.path("undisturbed") / name).read_bytes()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(gate: Gate, jobs: str) -> None:
    gate.tell("closed", 2)
    closed = gate.tell("closed", 3)
    process = gate.sweep(5, "--jobs", jobs)
    until(lambda: len(gate.finished()) == 2 and 2 in gate.ran)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: parent and workers all hear it
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "2 of 5 cells" in said
    assert "Traceback" not in said
    frame = pl.read_parquet(gate.path() / "results.parquet")
    assert frame["workload.number"].unique().sort().to_list() == [0, 1]
    assert json.loads((gate.path() / "sweep.json").read_text())["status"] == "partial"
    until(lambda: not any(map(alive, gate.pids)))
    assert closed.exists()


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_own_cell_only(gate: Gate) -> None:
    told = gate.tell("die", 1)
    code, _, said = gate.done(4, "--jobs", "2")
    assert code == 5
    assert "point 1 (workload.number=1) failed: the worker process was killed; out of memory?" in said
    assert "1 of 4 cells failed" in said
    assert len(gate.finished()) == 3
    told.unlink()
    assert gate.done(4, "--jobs", "2")[0] == 0
    assert list((gate.path() / "failures").iterdir()) == []
    assert gate.ran[-1] == 1


def test_failures_are_recorded_and_tried_again(gate: Gate) -> None:
    told = [gate.tell("fail", number) for number in (0, 1)]
    code, printed, said = gate.done(2, "--jobs", "2", "--json")
    assert code == 4
    assert "all 2 cells failed" in said
    assert "point 1 (workload.number=1) failed: RuntimeError: told to fail at 1" in said
    sweep = json.loads(printed)
    assert sweep["status"] == "partial"
    assert [failure["error"] for failure in sweep["failures"]] == [f"RuntimeError: told to fail at {i}" for i in (0, 1)]
    failure = json.loads((gate.path() / "failures" / f"{sweep['points'][1]['key']}.json").read_text())
    assert failure["error"] == "RuntimeError: told to fail at 1"
    assert "in generate" in "".join(failure["traceback"])
    assert pl.read_parquet(gate.path() / "results.parquet").height == 0
    told[0].unlink()
    assert gate.done(2, "--jobs", "1")[0] == 5
    assert pl.read_parquet(gate.path() / "results.parquet")["cell"].unique().to_list() == [0]
    told[1].unlink()
    code, printed, _ = gate.done(2, "--jobs", "1", "--json")
    assert code == 0
    assert (json.loads(printed)["status"], json.loads(printed)["failures"]) == ("complete", [])
    assert sorted(gate.ran) == [0, 0, 1, 1, 1]


def test_code_that_leaves_fails_its_own_cell_only(gate: Gate) -> None:
    told = gate.tell("leave", 1)
    code, printed, said = gate.done(3, "--jobs", "1", "--json")
    assert code == 5, said
    assert "point 1 (workload.number=1) failed: SystemExit: 0" in said
    assert [failure["cell"] for failure in json.loads(printed)["failures"]] == [1]
    assert len(gate.finished()) == 2
    told.unlink()
    assert gate.done(3, "--jobs", "1")[0] == 0

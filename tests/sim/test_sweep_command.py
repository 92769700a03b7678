"""The sweep command end to end; what kills and failures do is in test_sweep_kill.py."""

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import Done, run_cli, write_small

from sim.summary import moments

Capsys = pytest.CaptureFixture[str]
AXES = ("--set", "batching.size=8,16", "--set", "schedule=[dfs-bid, no-sort]")


def sweep(capsys: Capsys, folder: Path, *arguments: object, out: str = "out") -> tuple[Done, Path]:
    """The command, and its folder."""
    path = folder / "small.yaml"
    done = run_cli(capsys, "sweep", path if path.exists() else write_small(folder), "--out", folder / out, *arguments)
    return done, next((folder / out).iterdir(), Path()) if (folder / out).exists() else Path()


def cells(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "cells").iterdir()}


def test_one_job_and_two_leave_equal_bytes_and_a_second_call_runs_nothing(capsys: Capsys, tmp_path: Path) -> None:
    one, first = sweep(capsys, tmp_path, *AXES, "--jobs", 1, "--json", out="one")
    two, second = sweep(capsys, tmp_path, *AXES, "--jobs", 2, "--quiet", out="two")
    assert (one.code, two.code, two.out) == (0, 0, ""), one.err + two.err
    assert first.name == second.name == f"small-{first.name[-8:]}"
    assert cells(first) == cells(second)
    assert len(cells(first)) == 2
    for name in ("results.parquet", "sweep.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert {**json.loads((first / "sweep.json").read_text()), "sweep_dir": str(first)} == json.loads(one.out)
    written = {path: path.stat().st_mtime_ns for path in (first / "cells").iterdir()}
    again, _ = sweep(capsys, tmp_path, *AXES, out="one")
    assert again.code == 0
    assert {path: path.stat().st_mtime_ns for path in (first / "cells").iterdir()} == written


def test_results_are_what_simulate_measures(capsys: Capsys, tmp_path: Path) -> None:
    done, folder = sweep(capsys, tmp_path, *AXES, "--jobs", 1)
    frame = pl.read_parquet(folder / "results.parquet")
    assert frame.columns[:6] == ["cell", "key", "batching.size", "schedule", "trial", "welfare"]
    assert frame.select("cell", "schedule", "trial").rows() == [
        (cell, schedule, trial) for cell in (0, 1) for schedule in ("dfs-bid", "no-sort") for trial in (0, 1)
    ]
    arguments = ("--set", "batching.size=16", "--set", "schedule=[dfs-bid, no-sort]", "--json", "--no-report")
    simulated = json.loads(run_cli(capsys, "simulate", tmp_path / "small.yaml", *arguments, "--out", tmp_path).out)
    rows = frame.filter(pl.col("batching.size") == 16, pl.col("schedule") == "dfs-bid")
    for metric in ("welfare", "hit_rate", "p99_ttft_ms", "revenue"):
        assert moments(rows[metric].to_list()) == simulated["schedules"]["dfs-bid"][metric]
    assert "± " in done.out
    assert f'pl.read_parquet("{folder}/results.parquet")' in done.out


def test_a_cell_holds_what_the_contract_says(capsys: Capsys, tmp_path: Path) -> None:
    _, folder = sweep(capsys, tmp_path, *AXES, "--jobs", 1, "--quiet")
    description = json.loads((folder / "sweep.json").read_text())
    point = description["points"][1]
    assert point["settings"] == {"batching.size": 16}
    assert [axis["key"] for axis in description["axes"]] == ["batching.size"]
    assert description["axes"][0] == {"key": "batching.size", "design": "grid", "values": [8, 16]}
    cell = json.loads((folder / "cells" / f"{point['key']}.json").read_text())
    assert list(cell) == ["key", "config_hash", "version", "scenario", "summary", "facts", "warnings", "status"]
    assert cell["scenario"]["batching"]["size"] == 16
    assert (cell["key"], cell["status"]) == (point["key"], "complete")
    assert {"welfare", "hit_rate", "se"} <= set(description["definitions"])
    assert description["seeds"]["trials"] == 2


def test_equal_points_share_a_cell(capsys: Capsys, tmp_path: Path) -> None:
    done, folder = sweep(capsys, tmp_path, "--set", "schedule=no-sort,{use: no-sort}", "--jobs", 1, "--json")
    assert done.code == 0
    assert len(cells(folder)) == 1
    assert pl.read_parquet(folder / "results.parquet")["cell"].unique().to_list() == [0, 1]


def test_where_no_request_fits_the_server_nothing_is_served(capsys: Capsys, tmp_path: Path) -> None:
    done, folder = sweep(capsys, tmp_path, "--set", "backend.kv_tokens=8,9", "--jobs", 1)
    assert done.code == 4
    assert "no request was served in any cell" in done.err
    assert pl.read_parquet(folder / "results.parquet")["hit_rate"].null_count() == 16


def test_a_damaged_cell_is_run_again(capsys: Capsys, tmp_path: Path) -> None:
    _, folder = sweep(capsys, tmp_path, *AXES, "--jobs", 1, "--quiet")
    before = cells(folder)
    path = folder / "cells" / next(iter(before))
    path.write_bytes(path.read_bytes()[:100])
    (folder / "cells" / ".half.json.1.partial").touch()
    done, _ = sweep(capsys, tmp_path, *AXES, "--jobs", 1, "--quiet")
    assert done.code == 0
    assert cells(folder) == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--set", "batching.size=8,0"), "--set batching.size (point 1: batching.size=0): found 0"),
        (("--set", "batching.sise=8,9"), 'Did you mean "size"?'),
        (("--set", "batching.size=8,8"), "found 8 twice"),
        ((), "nothing to sweep"),
        (("--set", "batching.size=8"), "nothing to sweep"),
        (("--random", 2), "no range to draw from"),
        ((*AXES, "--address", "x:1"), "expected --executor ray beside it"),
        ((*AXES, "--jobs", 0), "--jobs"),
        (
            (*AXES, "--backend", "sglang", "--set", "backend.url=http://127.0.0.1:1", "--jobs", 2),
            "--jobs: found 2 jobs; expected 1 job of the local executor: the cells share one live server",
        ),
    ],
)
def test_bad_input_is_exit_2_before_any_cell(capsys: Capsys, tmp_path: Path, arguments: Any, expected: str) -> None:
    done, folder = sweep(capsys, tmp_path, *arguments)
    assert done.code == 2
    assert expected in done.err
    assert folder == Path()


def test_a_disk_without_room_is_noticed_before_any_cell(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 0))  # type: ignore[attr-defined]
    done, folder = sweep(capsys, tmp_path, *AXES, "--jobs", 1)
    assert done.code == 2
    assert "found 0 MB free; expected" in done.err
    assert not (folder / "cells").exists()


def test_a_folder_that_cannot_be_made_is_noticed_before_any_cell(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    done = run_cli(capsys, "sweep", write_small(tmp_path), *AXES, "--out", tmp_path / "out", "--jobs", 1)
    assert done.code == 2


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_two_calls_do_not_share_a_folder(capsys: Capsys, tmp_path: Path) -> None:
    _, folder = sweep(capsys, tmp_path, *AXES, "--jobs", 1, "--quiet")
    with locked(folder / ".lock"):
        done, _ = sweep(capsys, tmp_path, *AXES, "--jobs", 1)
    assert done.code == 2
    assert "another sweep at work there" in done.err


def test_a_table_says_how_much_it_leaves_out(capsys: Capsys, tmp_path: Path) -> None:
    path = write_small(tmp_path)
    path.write_text(path.read_text() + "sweep: {grid: {workload.output_tokens: [1, 2, 3]}}\n")
    axes = ("--set", "batching.size=4,8,12,16", "--set", "workload.num_requests=8", "--trials", 1)
    done, _ = sweep(capsys, tmp_path, *axes, "--jobs", 2)
    assert done.code == 0, done.err
    assert done.out.count("no-sort") == 10
    assert "… and 2 more points" in done.out


def test_a_file_with_a_block_is_checked_and_simulated(capsys: Capsys, tmp_path: Path) -> None:
    path = write_small(tmp_path)
    path.write_text(path.read_text() + "sweep: {grid: {batching.size: [4, 8]}}\n")
    assert run_cli(capsys, "check", path).out == f"{path}: ok, 2 points to sweep\n"
    assert "sweep" not in json.loads(run_cli(capsys, "check", path, "--json").out)
    done = run_cli(capsys, "simulate", path, "--json", "--no-report", "--out", tmp_path / "runs")
    assert done.code == 0
    path.write_text(path.read_text().replace("[4, 8]", "[4, 0]"))
    done = run_cli(capsys, "check", path)
    assert (done.code, "(point 1: batching.size=0)" in done.err) == (2, True)


def test_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys; from sim.cli import main; sys.argv = ['x', 'sweep', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'scipy', 'polars', 'joblib', 'ray', 'plotly', 'networkx', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

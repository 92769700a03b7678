"""The `compare` command: its data, its table, its exit codes, and what the figures need."""

import importlib.util
import json
import shlex
from pathlib import Path

import pytest
from command_line import run_cli, write_small
from compare_kit import GRID, grid_metrics, write_sweep
from page_kit import refuse

Capsys = pytest.CaptureFixture[str]


def test_json_alone_is_on_stdout(capsys: Capsys, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID, absent={2: "no room"})
    done = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html", "--json")
    assert done.code == 0
    found = json.loads(done.out, parse_constant=refuse)
    assert found["contenders"] == ["dfs-bid", "bid-sort"]
    assert [axis["key"] for axis in found["axes"]] == list(GRID)
    point = found["points"][0]
    assert point["settings"] == {"batching.size": 16, "workload.sharing": 0.1}
    mine = point["contenders"]["bid-sort"]
    assert mine["metrics"]["mean_ttft_ms"] == {"mean": 200.0, "se": 0.0, "n": 2, "low": 200.0, "high": 200.0}
    assert mine["paired"]["welfare_pct_over_random"]["diff"] == -1.0
    assert mine["paired"]["welfare_pct_over_random"]["bootstrap"] == [-2.0, 0.0]
    assert mine["paired"]["hit_rate"]["told"] is True
    assert point["contenders"]["dfs-bid"]["paired"] == {}
    assert found["points"][2]["contenders"] == {}
    assert [gap["reason"] for gap in found["missing"]] == ["no room"]
    assert {(each["contender"], each["metric"]) for each in found["over_settings"]} >= {("bid-sort", "hit_rate")}
    assert found["verdict"]
    assert found["method"]["confidence"] == 0.95
    assert done.err == f"page: {tmp_path / 'c.html'}\n" or done.err == ""


def test_the_table_and_the_page(capsys: Capsys, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    done = run_cli(capsys, "compare", folder, "--baseline", "bid-sort", "--out", tmp_path / "c.html")
    assert done.code == 0
    for words in ("bid-sort (baseline)", "dfs-bid", "Means over 6 of 6 settings", "it flips"):
        assert words in done.out
    assert "page:" in done.err
    assert (tmp_path / "c.html").stat().st_size < 4_000_000
    quiet = run_cli(capsys, "compare", folder, "--out", tmp_path / "c.html", "--quiet")
    assert (quiet.code, quiet.out) == (0, "")


def test_the_table_has_a_real_minus_and_says_what_repeats(capsys: Capsys, tmp_path: Path) -> None:
    def metrics(settings: dict, schedule: str, trial: int) -> dict:
        return {**grid_metrics(settings, schedule, trial), "welfare_pct_over_random": -5.0 - trial}

    first = write_sweep(tmp_path / "a", {"batching.size": [16, 32]}, metrics)
    second = write_sweep(tmp_path / "b", {"batching.size": [32, 64]}, metrics)
    done = run_cli(capsys, "compare", first, second, "--out", tmp_path / "c.html")
    assert "−5.5 ± 6.4" in done.out
    assert "Means over 3 of 3 settings" in done.out
    assert "1 of 4 points repeat another one" in done.out


def test_bad_input_ends_in_2(capsys: Capsys, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    for arguments in ((tmp_path / "nowhere",), (folder, "--baseline", "nobody"), (folder, "--out", tmp_path)):
        done = run_cli(capsys, "compare", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")


def test_without_kaleido_the_extra_is_named(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "kaleido" else find(name, *rest)
    )
    folder, out = write_sweep(tmp_path / "s", GRID), tmp_path / "c.html"
    done = run_cli(capsys, "compare", folder, "--out", out, "--png", tmp_path / "png")
    assert done.code == 2
    assert "pip install" in done.err
    assert not out.exists()


def test_a_real_run_and_a_real_sweep(capsys: Capsys, tmp_path: Path) -> None:
    """A run with the sweep's scenario and another batch size lies in one line with the sweep's cells."""
    path = write_small(tmp_path)
    sizes = ("--set", "batching.size=8,16")
    assert run_cli(capsys, "sweep", path, *sizes, "--out", tmp_path / "sweeps", "--quiet").code == 0
    assert run_cli(capsys, "simulate", path, "--set", "batching.size=40", "--out", tmp_path / "runs", "-q").code == 0
    folders = [*(tmp_path / "sweeps").iterdir(), *(tmp_path / "runs").iterdir()]
    done = run_cli(capsys, "compare", *folders, "--out", tmp_path / "c.html", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert [(axis["key"], axis["values"]) for axis in found["axes"]] == [("batching.size", [8, 16, 40])]
    digests = {each["requests"] for point in found["points"] for each in point["contenders"].values()}
    assert len(digests) == 1  # all met the same requests
    assert found["contenders"] == ["dfs-bid", "dfs-uniform", "bid-sort", "no-sort"]
    assert [point["contenders"]["dfs-bid"]["page"] is not None for point in found["points"]] == [False, False, True]


def test_a_cells_command_makes_the_cell_again(capsys: Capsys, tmp_path: Path) -> None:
    path = write_small(tmp_path)
    axes = ("--set", "backend.kv_tokens=800", "--set", "schedule=dfs-bid,{use: tiers, label: t 2, tiers: 2}")
    assert run_cli(capsys, "sweep", path, *axes, "--out", tmp_path / "sweeps", "--quiet").code == 0
    done = run_cli(capsys, "compare", *(tmp_path / "sweeps").iterdir(), "--out", tmp_path / "c.html", "--json")
    found = json.loads(done.out)["points"][0]["contenders"]["t 2"]
    program, *arguments = shlex.split(found["command"])
    assert program == "inference-auctions"
    again = run_cli(capsys, *arguments, "--no-report", "--out", tmp_path / "runs", "--json")
    metrics = json.loads(again.out)["schedules"]["t 2"]
    assert metrics["mean_ttft_ms"]["mean"] == found["metrics"]["mean_ttft_ms"]["mean"]
    assert metrics["revenue"]["mean"] == found["metrics"]["revenue"]["mean"]

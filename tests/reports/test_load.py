import math
from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_json, edit_table, write_run

from reports.load import load_run, load_runs
from sim.errors import ScenarioError


def test_a_run_is_read_with_its_scenario_and_schedules(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "run"))
    assert (run.name, run.label, run.schedules) == ("four", "", ("dfs-bid", "no-sort"))
    assert run.scenario["dispatch"] == {"in_flight": 1}
    assert (len(run.requests), len(run.auctions), len(run.payments)) == (16, 4, 12)


def test_optional_files_may_be_absent(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "engine_steps.parquet").unlink()
    (folder / "tree.json").unlink()
    run = load_run(folder)
    assert run.engine_steps is None
    assert run.tree is None


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "summary.json", "scenario.yaml", "requests.parquet", "auctions.parquet", "payments.parquet"],
)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path / "run")
    (folder / name).unlink()
    with pytest.raises(ScenarioError, match=f"found no {name}"):
        load_run(folder)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "requests.parquet"
    pl.read_parquet(path).drop("ttft_s").write_parquet(path)
    with pytest.raises(ScenarioError, match=r"requests\.parquet: found no column ttft_s"):
        load_run(folder)


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "summary.json").write_text('{\n"schedules": \n', encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"summary\.json:3"):
        load_run(folder)


def test_a_summary_without_schedules_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    edit_json(folder / "summary.json", lambda summary: summary["schedules"].clear())
    with pytest.raises(ScenarioError, match="at least one schedule"):
        load_run(folder)


def test_nan_and_infinity_are_null(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    odd = pl.when(pl.col("trial") == 0).then(math.nan).otherwise(math.inf)
    edit_table(folder / "requests.parquet", odd.alias("ttft_s"))
    assert load_run(folder).requests["ttft_s"].null_count() == 16


def test_a_column_of_nulls_only_has_its_type(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    edit_table(folder / "requests.parquet", pl.lit(None).alias("cached_tokens"))
    assert load_run(folder).requests["cached_tokens"].dtype == pl.Int64


def test_several_runs_are_told_apart_by_name_then_by_folder(tmp_path: Path) -> None:
    folders = [
        write_run(tmp_path / "one-11aa22bb", "stars"),
        write_run(tmp_path / "two-33cc44dd", "stars"),
        write_run(tmp_path / "three-55ee66ff", "chains"),
    ]
    assert [run.label for run in load_runs(folders)] == ["stars 11aa22bb", "stars 33cc44dd", "chains"]
    twins = [write_run(tmp_path / "a" / "run", "stars"), write_run(tmp_path / "b" / "run", "stars")]
    assert [run.label for run in load_runs(twins)] == [str(twin) for twin in twins]


def test_a_folder_given_twice_is_one_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    assert [run.label for run in load_runs([folder, tmp_path / "run" / ".." / "run"])] == [""]


def test_no_folder_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="found no run folder"):
        load_runs([])

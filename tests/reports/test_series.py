import math
from pathlib import Path

import pytest
from run_folders import edit_json, write_run

from reports.load import load_runs
from reports.series import Estimate, finite, series_of


def test_an_estimate_has_no_nan() -> None:
    assert Estimate.read({"mean": math.nan, "se": math.inf, "n": 2}) == Estimate(None, None, 2)
    assert Estimate.read(None) == Estimate(None, None, 0)
    assert (finite(True), finite("3"), finite(3)) == (None, None, 3.0)


def test_a_schedule_keeps_its_colour_and_a_run_has_its_dash(tmp_path: Path) -> None:
    series = series_of(load_runs([write_run(tmp_path / "a", "one"), write_run(tmp_path / "b", "two")]))
    assert [one.label for one in series] == ["one/dfs-bid", "one/no-sort", "two/dfs-bid", "two/no-sort"]
    assert [(one.color, one.dash) for one in series] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_one_schedule_in_several_runs_gets_a_colour_a_run(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / "a", "one"), write_run(tmp_path / "b", "two")]
    for folder in folders:
        edit_json(folder / "summary.json", lambda summary: summary["schedules"].pop("no-sort"))
    assert [(one.color, one.dash) for one in series_of(load_runs(folders))] == [(0, 0), (1, 0)]


def test_the_label_of_a_single_run_is_the_schedule(tmp_path: Path) -> None:
    first, second = series_of(load_runs([write_run(tmp_path / "run")]))
    assert (first.label, second.label, second.reference) == ("dfs-bid", "no-sort", "dfs-bid")
    assert len(second.first_trial(second.run.requests)) == 4
    assert second.metric("mean_ttft_ms") == Estimate(500.0, 0.0, 2)
    assert second.paired("mean_ttft_ms") == Estimate(240.0, 10.0, 2)
    assert second.metric("no_such_metric") == Estimate(None, None, 0)


def test_less_than_a_millionth_is_no_difference(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    dust = {"diff": -4e-4, "se": 2e-13, "n": 2}
    edit_json(
        folder / "summary.json",
        lambda summary: summary["schedules"]["no-sort"]["paired"].update(mean_ttft_ms=dust),
    )
    assert series_of(load_runs([folder]))[1].paired("mean_ttft_ms") == Estimate(0.0, 0.0, 2)


def test_nine_schedules_have_nine_looks(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")

    def nine(summary: dict) -> None:
        summary["schedules"] = {f"rule-{number}": summary["schedules"]["dfs-bid"] for number in range(9)}

    edit_json(folder / "summary.json", nine)
    looks = [(one.color, one.dash) for one in series_of(load_runs([folder]))]
    assert looks[7:] == [(7, 0), (0, 1)]


@pytest.mark.parametrize("empty", [[], [{}]])
def test_a_schedule_without_records_has_empty_rows(tmp_path: Path, empty: list) -> None:
    folder = write_run(tmp_path / "run")
    record = {"statuses": {}, "trials": empty, "paired": {}}
    edit_json(folder / "summary.json", lambda summary: summary["schedules"].update(late=record))
    late = series_of(load_runs([folder]))[2]
    assert len(late.first_trial(late.run.requests)) == 0
    assert late.metric("hit_rate").mean is None

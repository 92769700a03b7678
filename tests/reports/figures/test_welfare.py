from pathlib import Path

import pytest
from run_folders import edit_json, write_run

from reports.figures.welfare import against_ttft
from reports.load import load_runs
from reports.series import series_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_means_have_bars_and_trials_are_faint(folder: Path) -> None:
    chart = against_ttft(series_of(load_runs([folder])))
    trials, mean, *_ = chart.figure.data
    assert trials.x == (250.0, 270.0)
    assert (mean.x, mean.error_x.array) == ((260.0,), (10.0,))
    assert mean.y == pytest.approx([125 / 3])


def test_one_trial_has_no_bars_and_no_faint_marks(folder: Path) -> None:
    def single(summary: dict) -> None:
        for record in summary["schedules"].values():
            record["trials"] = record["trials"][:1]
            for metric in ("welfare_pct_over_random", "mean_ttft_ms"):
                record[metric] = {"mean": record[metric]["mean"], "se": None, "n": 1}

    edit_json(folder / "summary.json", single)
    traces = against_ttft(series_of(load_runs([folder]))).figure.data
    assert len(traces) == 2
    assert [trace.error_y.visible for trace in traces] == [False, False]


def test_a_schedule_without_numbers_is_named(folder: Path) -> None:
    edit_json(folder / "summary.json", lambda summary: summary["schedules"]["no-sort"].pop("mean_ttft_ms"))
    chart = against_ttft(series_of(load_runs([folder])))
    assert chart.caption.endswith("Not drawn, for want of a number: no-sort.")
    edit_json(folder / "summary.json", lambda summary: summary["schedules"]["dfs-bid"].pop("mean_ttft_ms"))
    assert against_ttft(series_of(load_runs([folder]))).figure is None

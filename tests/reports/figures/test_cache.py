from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_json, edit_table, write_run

from reports.figures.cache import capacity_tokens, hit_rate, occupancy, peaks, windows
from reports.load import load_run, load_runs
from reports.series import series_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_few_steps_are_drawn_as_they_are() -> None:
    steps = pl.DataFrame({"start_s": [1.0, 0.0], "kv_used_tokens": [5, 9]})
    assert peaks(steps).rows() == [(0.0, 9), (1.0, 5)]


def test_many_steps_become_the_fullest_moment_of_each_slice() -> None:
    steps = pl.DataFrame({"start_s": [float(k) for k in range(1001)], "kv_used_tokens": [k % 7 for k in range(1001)]})
    drawn = peaks(steps, slices=10)
    assert len(drawn) == 10
    assert drawn["kv_used_tokens"].to_list() == [6] * 10
    assert drawn["start_s"].to_list() == [100.0 * k for k in range(10)]


def test_hit_rate_is_tokens_over_tokens_in_each_window() -> None:
    requests = pl.DataFrame(
        {
            "admitted_s": [0.1, 0.2, None, 3.5, None],
            "first_token_s": [0.3, 0.4, 0.9, 3.6, None],
            "cached_tokens": [10, 0, None, 30, 7],
            "prompt_tokens": [10, 90, 50, 40, 70],
        }
    )
    # nothing began in the second and the third second; the fourth row has 30 of 40
    assert windows(requests, 1.0).rows() == [(1.0, 0.1), (2.0, None), (3.0, None), (4.0, 0.75)]
    assert windows(requests.head(0), 1.0).rows() == []


def test_occupancy_is_of_the_first_trial_with_the_capacity(folder: Path) -> None:
    traces = occupancy(series_of(load_runs([folder]))).figure.data
    assert [trace.name for trace in traces] == ["dfs-bid", "no-sort", "capacity 300"]
    assert traces[0].y == (100, 200, 300, 300)
    assert traces[1].x == pytest.approx([0.0, 0.2, 0.4, 0.6])


def test_missing_steps_are_said_not_drawn(folder: Path) -> None:
    (folder / "engine_steps.parquet").unlink()
    chart = occupancy(series_of(load_runs([folder])))
    assert chart.figure is None
    assert "engine_steps.parquet" in chart.missing


def test_a_server_that_does_not_report_has_no_hit_rate(folder: Path) -> None:
    edit_table(folder / "requests.parquet", pl.lit(None).alias("cached_tokens"))
    chart = hit_rate(series_of(load_runs([folder])))
    assert chart.figure is None
    assert chart.missing.startswith("Not reported")


def test_a_reported_zero_is_drawn(folder: Path) -> None:
    second = hit_rate(series_of(load_runs([folder]))).figure.data[1]
    assert {rate for rate in second.y if rate is not None} == {0.0}


@pytest.mark.parametrize(
    ("backend", "expected"),
    [({"kv_tokens": 500}, 500), ({"kv_tokens": None}, None), ({}, 300), (None, 300), ({"kv_tokens": "profile"}, 300)],
)
def test_the_capacity_is_what_the_manifest_says_then_the_scenario(
    folder: Path, backend: dict | None, expected: int | None
) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(backend=backend))
    assert capacity_tokens(load_run(folder)) == expected


def test_a_capacity_left_to_the_profile_is_the_profiles(folder: Path) -> None:
    said = {"use": "simulated", "kv_tokens": "profile"}
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(backend=said, profile={"kv_tokens": 900}))
    scenario = folder / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("kv_tokens: 300", "kv_tokens: profile"))
    run = load_run(folder)
    assert capacity_tokens(run) == 900
    assert "capacity 900" in [trace.name for trace in occupancy(series_of([run])).figure.data]

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import edit_json, write_run

from reports.load import load_runs
from reports.series import series_of
from reports.verdict import Bar, cards, reading


def told(folder: Path, edit: Callable[[Any], object] | None = None) -> str:
    if edit is not None:
        edit_json(folder / "summary.json", lambda summary: edit(summary["schedules"]))
    return str(reading(series_of(load_runs([folder]))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_the_sentence_when_nothing_earns_more(folder: Path) -> None:
    assert told(folder) == (
        "<strong>dfs-bid</strong> realises welfare 41.7 % above a random order, at a cache hit rate of 20.0 % and a"
        " mean TTFT of 260 ms; no other schedule earns more, <strong>no-sort</strong> comes nearest (0.0 % above) at"
        " 1.92 times its mean TTFT."
    )


def test_the_sentence_when_another_earns_more_and_is_slower(folder: Path) -> None:
    def edit(schedules: Any) -> None:
        schedules["no-sort"]["welfare_pct_over_random"] = {"mean": 60.0, "se": 2.5, "n": 2}
        schedules["no-sort"]["paired"]["welfare_pct_over_random"] = {"diff": 18.3, "se": 2.5, "n": 2}

    assert told(folder, edit).endswith(
        "; <strong>no-sort</strong> earns the most (60.0 ± 2.5 % above), but takes 1.92 times as long to a first token."
    )


def test_a_difference_inside_the_error_is_said(folder: Path) -> None:
    def edit(schedules: Any) -> None:
        schedules["no-sort"]["welfare_pct_over_random"] = {"mean": -43.0, "se": 2.5, "n": 2}
        schedules["no-sort"]["paired"]["welfare_pct_over_random"] = {"diff": -1.0, "se": 2.0, "n": 2}
        schedules["no-sort"]["mean_ttft_ms"] = {"mean": 261.0, "se": 2.5, "n": 2}

    assert told(folder, edit).endswith(
        "; <strong>no-sort</strong> earns about as much (43.0 ± 2.5 % below, a difference of less than two standard"
        " errors) at the same mean TTFT."
    )


def test_half_a_point_makes_no_winner(folder: Path) -> None:
    def edit(schedules: Any) -> None:
        schedules["no-sort"]["welfare_pct_over_random"] = {"mean": 41.9, "se": None, "n": 1}
        schedules["no-sort"]["paired"]["welfare_pct_over_random"] = {"diff": 0.23, "se": None, "n": 1}

    assert told(folder, edit).endswith("earns about as much (41.9 % above) at 1.92 times its mean TTFT.")


def test_other_scenarios_are_no_rivals_but_single_runs_are(folder: Path, tmp_path: Path) -> None:
    rich = write_run(tmp_path / "rich", "rich")
    edit_json(rich / "summary.json", lambda s: s["schedules"]["dfs-bid"]["welfare_pct_over_random"].update(mean=99.0))
    assert "<strong>four/no-sort</strong> comes nearest" in reading(series_of(load_runs([folder, rich])))
    for path in (folder, rich):
        edit_json(path / "summary.json", lambda summary: summary["schedules"].pop("no-sort"))
    assert "<strong>rich/dfs-bid</strong> earns the most (99.0 % above)" in reading(
        series_of(load_runs([folder, rich]))
    )


def test_nothing_served_is_said_and_names_are_escaped(folder: Path) -> None:
    def edit(schedules: Any) -> None:
        record = schedules.pop("dfs-bid")
        record["mean_ttft_ms"] = {"mean": None, "se": None, "n": 0}
        schedules.pop("no-sort")
        schedules["<b>x"] = record

    assert told(folder, edit) == (
        "<strong>&lt;b&gt;x</strong> brought no request to its first token: nothing to compare."
    )


def test_an_unreported_hit_rate_is_not_a_zero(folder: Path) -> None:
    def edit(schedules: Any) -> None:
        schedules.pop("no-sort")
        schedules["dfs-bid"]["hit_rate"] = {"mean": None, "se": None, "n": 0}

    assert "at an unreported cache hit rate and a mean TTFT of 260 ms." in told(folder, edit)


def test_a_card_says_mean_error_n_and_difference(folder: Path) -> None:
    ttft = cards(series_of(load_runs([folder])))[2]
    assert ttft.metric.name == "mean_ttft_ms"
    assert [(row.mean, row.error, row.paired) for row in ttft.rows] == [
        ("260 ms", "± 10 · n = 2", ""),
        ("500 ms", "± 0 · n = 2", "Δ +240 ± 10 ms"),
    ]


def test_bars_start_at_zero_and_whiskers_span_one_error(folder: Path) -> None:
    def edit(summary: Any) -> None:
        record = summary["schedules"]
        record["dfs-bid"]["welfare_pct_over_random"] = {"mean": 30.0, "se": 10.0, "n": 2}
        record["no-sort"]["welfare_pct_over_random"] = {"mean": -10.0, "se": None, "n": 1}

    edit_json(folder / "summary.json", edit)
    welfare, hit_rate, *_ = cards(series_of(load_runs([folder])))
    # the track runs from −10 to 40, so zero stands at 20 %
    assert [row.bar for row in welfare.rows] == [Bar(20.0, 60.0, 60.0, 100.0), Bar(0.0, 20.0, 0.0, 0.0)]
    assert welfare.rows[1].error == "n = 1, no interval"
    # a hit rate is a share of 1, whatever the others are
    assert hit_rate.rows[0].bar == Bar(0.0, 20.0, 20.0, 20.0)


def test_a_missing_number_has_no_bar(folder: Path) -> None:
    edit_json(folder / "summary.json", lambda summary: summary["schedules"]["no-sort"].pop("revenue"))
    revenue = cards(series_of(load_runs([folder])))[4]
    assert (revenue.rows[1].mean, revenue.rows[1].error, revenue.rows[1].bar) == ("not reported", "", None)

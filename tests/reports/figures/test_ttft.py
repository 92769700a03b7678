from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_table, write_run

from reports.figures.ttft import decile_facets, ecdf, overall, with_deciles
from reports.load import load_runs
from reports.series import series_of


def deciles(bids: list[float | None], trials: list[int] | None = None) -> list[int | None]:
    frame = pl.DataFrame(
        {"trial": trials or [0] * len(bids), "bid": bids}, schema={"trial": pl.Int64, "bid": pl.Float64}
    )
    return with_deciles(frame)["decile"].to_list()


def test_ten_bids_fill_ten_deciles() -> None:
    assert deciles([3.0, 1, 2, 10, 9, 8, 7, 6, 5, 4]) == [3, 1, 2, 10, 9, 8, 7, 6, 5, 4]


def test_a_thousand_bids_fill_deciles_evenly() -> None:
    found = deciles([float(bid) for bid in range(1000)])
    assert [found.count(decile) for decile in range(1, 11)] == [100] * 10


def test_equal_bids_share_a_decile() -> None:
    # eight bids of zero have the average rank 4.5 of 10: decile 5
    assert deciles([0.0] * 8 + [1.0, 2.0]) == [5] * 8 + [9, 10]
    assert deciles([1.0]) == [10]


def test_deciles_are_taken_within_a_trial_and_a_missing_bid_has_none() -> None:
    assert deciles([1.0, 2.0, 100.0, 200.0, None], [0, 0, 1, 1, 1]) == [5, 10, 5, 10, None]


def test_requests_without_a_first_token_keep_the_curve_below_one() -> None:
    x, y = ecdf(pl.Series([0.3, None, 0.1, None]))
    assert (x.tolist(), y.tolist()) == ([0.1, 0.1, 0.3], [0.0, 0.25, 0.5])


def test_a_long_curve_keeps_its_ends_and_true_shares() -> None:
    x, y = ecdf(pl.Series([float(second) for second in range(1, 10_001)]), points=100)
    assert len(x) == 101
    assert (x[1], x[-1], y[-1]) == (1.0, 10_000.0, 1.0)
    assert (x[1:] / 10_000).tolist() == y[1:].tolist()


def test_nobody_served_is_no_curve() -> None:
    assert [part.tolist() for part in ecdf(pl.Series([None], dtype=pl.Float64))] == [[], []]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_curves_pool_trials_and_deciles_are_means(folder: Path) -> None:
    series = series_of(load_runs([folder]))
    everyone, by_decile = overall(series)
    assert everyone.figure.data[1].x == pytest.approx([200, 200, 200, 400, 400, 600, 600, 800, 800])
    # values 1, 1, 2, 4: average ranks 1.5, 1.5, 3, 4 of 4 are the deciles 4, 4, 8, 10
    means = by_decile.figure.data[0]
    assert list(means.x) == [4, 8, 10]
    assert means.y == pytest.approx([360, 210, 110])
    assert list(means.customdata) == [4, 2, 2]


def test_facets_share_one_time_axis(folder: Path) -> None:
    charts = decile_facets(series_of(load_runs([folder])))
    assert [chart.title for chart in charts] == ["dfs-bid", "no-sort"]
    assert {chart.figure.layout.xaxis.range for chart in charts} == {(0, 816.0)}
    assert [trace.name for trace in charts[0].figure.data] == ["4", "8", "10"]


def test_rejected_requests_stand_outside(folder: Path) -> None:
    rejected = (pl.col("request_id") == "d") & (pl.col("schedule") == "dfs-bid")
    edit_table(
        folder / "requests.parquet",
        pl.when(rejected).then(pl.lit("rejected")).otherwise(pl.col("status")).alias("status"),
        pl.when(rejected).then(None).otherwise(pl.col("ttft_s")).alias("ttft_s"),
    )
    everyone, _ = overall(series_of(load_runs([folder])))
    assert everyone.figure.data[0].y[-1] == 1.0


def test_no_first_token_at_all_is_said(folder: Path) -> None:
    edit_table(folder / "requests.parquet", pl.lit(None).alias("ttft_s"))
    series = series_of(load_runs([folder]))
    assert [chart.figure for chart in (*overall(series), *decile_facets(series))] == [None] * 4
    assert overall(series)[0].missing == "No request got a first token."

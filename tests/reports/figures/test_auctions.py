from pathlib import Path

import polars as pl
from run_folders import write_run

from reports.figures.auctions import over_time, per_batch
from reports.load import load_runs
from reports.series import series_of


def test_neighbouring_batches_are_averaged_when_there_are_many() -> None:
    auctions = pl.DataFrame({"batch": range(6), "revenue": [1.0, 3.0, 5.0, None, 9.0, 11.0]})
    assert per_batch(auctions, "revenue", points=3).rows() == [(0, 2.0), (2, 7.0), (5, 11.0)]
    assert per_batch(auctions, "revenue").height == 5


def test_a_single_batch_has_no_course(tmp_path: Path) -> None:
    assert over_time(series_of(load_runs([write_run(tmp_path / "run")]))) == ()


def test_two_batches_are_drawn_for_the_first_trial(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "auctions.parquet"
    first = pl.read_parquet(path)
    later = first.with_columns(pl.lit(1).cast(pl.Int64).alias("batch"), (pl.col("revenue") * 2).alias("revenue"))
    pl.concat([first, later]).write_parquet(path)
    revenue, welfare = over_time(series_of(load_runs([folder])))
    assert revenue.figure.data[0].y == (5 / 3, 10 / 3)
    assert welfare.figure.data[1].y == (4.0, 4.0)
    assert revenue.figure.data[1].x == (0, 1)

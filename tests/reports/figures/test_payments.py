from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_table, write_run

from reports.figures.payments import against_declared_value, overcharged, thinned
from reports.load import load_runs
from reports.series import series_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_paying_all_that_was_declared_is_not_too_much() -> None:
    rows = pl.DataFrame({"declared_value": [1.0, 1.0, 1.0, 0.0], "payment": [1.0, 1.0 + 1e-12, 1.001, 0.5]})
    assert rows.select(overcharged().alias("over"))["over"].to_list() == [False, False, True, True]


def test_charges_are_drawn_against_declared_values(folder: Path) -> None:
    charged, free = against_declared_value(series_of(load_runs([folder])))
    diagonal, dots = charged.figure.data
    assert list(diagonal.x) == list(diagonal.y)
    # the axis begins at 0.1, and zero stands half a decade below
    assert dots.x == pytest.approx([16 / 3, 1 / 3, 10**-1.5] * 2)
    assert dots.y == pytest.approx([4 / 3, 1 / 3, 10**-1.5] * 2)
    assert dots.text[0] == "user u1, batch 0, trial 0"
    assert charged.figure.layout.xaxis.ticktext == ("0", "0.1", "1", "10")
    assert charged.caption == "6 charges, 2 of them zero; none above the line."
    assert (free.figure, free.missing) == (None, "Charges nothing.")


def test_a_charge_above_the_line_is_an_alarm(folder: Path) -> None:
    more = pl.when(pl.col("user") == "u3").then(2.0).otherwise(pl.col("payment")).alias("payment")
    edit_table(folder / "payments.parquet", more)
    charged, free = against_declared_value(series_of(load_runs([folder])))
    assert charged.alarm.startswith("2 of 6 charges are above the declared value. That is a bug")
    assert "none above" not in charged.caption
    assert free.alarm.startswith("2 of 6 charges")


def test_no_records_is_not_the_same_as_free(folder: Path) -> None:
    path = folder / "payments.parquet"
    pl.read_parquet(path).clear().write_parquet(path)
    assert [chart.missing for chart in against_declared_value(series_of(load_runs([folder])))] == [
        "No payments were recorded."
    ] * 2


def test_a_name_cannot_format_the_hover_text(folder: Path) -> None:
    edit_table(folder / "payments.parquet", pl.lit("<b>&").alias("user"))
    dots = against_declared_value(series_of(load_runs([folder])))[0].figure.data[1]
    assert dots.text[0].startswith("user &lt;b&gt;&amp;,") or dots.text[0].startswith("user &lt;b>&amp;,")


def test_thinning_keeps_what_matters() -> None:
    n = 50_000
    rows = pl.DataFrame(
        {
            "declared_value": [float(k % 1000) + 1 for k in range(n)],
            "payment": [0.25 + (k == 17) * 5_000.0 + (k == 23) * 400.0 for k in range(n)],
        }
    )
    kept = thinned(rows)
    assert len(kept) <= 1500
    assert kept["payment"].max() == 5_000.25
    assert kept.filter(overcharged()).height == 2
    assert kept["declared_value"].min() == 1.0
    assert thinned(rows.head(10)).equals(rows.head(10))

from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_json, edit_table, write_run

from reports.load import load_runs
from reports.series import Series, series_of
from reports.tables import side_by_side, statuses, unserved, users_by_spend


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def read(folder: Path) -> tuple[Series, ...]:
    return series_of(load_runs([folder]))


def test_every_metric_has_a_row_headlines_first(folder: Path) -> None:
    edit_json(
        folder / "summary.json", lambda s: s["schedules"]["dfs-bid"].update(odd_x={"mean": 3, "se": None, "n": 1})
    )
    table = side_by_side(read(folder))
    assert [row.metric.title for row in table.rows] == [
        "Welfare over random",
        "Cache hit rate",
        "Mean TTFT",
        "p99 TTFT",
        "Revenue",
        "Welfare, realised order",
        "odd_x",
    ]
    assert table.rows[0].cells == (("+41.67 ± 0 %", ""), ("0 ± 0 %", "Δ −41.67 ± 0 pp"))
    assert table.rows[-1].cells == (("3", ""), ("not reported", ""))


def test_what_no_schedule_reports_is_named_once(folder: Path) -> None:
    nothing = {"mean": None, "se": None, "n": 0}
    edit_json(folder / "summary.json", lambda s: s["schedules"]["dfs-bid"].update(p99_tpot_ms=nothing))
    assert side_by_side(read(folder)).absent == ("time per output token",)


def test_users_are_ranked_by_what_they_paid_in_the_first_trial(folder: Path) -> None:
    table = users_by_spend(read(folder))[0]
    assert table.rows == (
        ("u1", "2", "5.333", "5.333", "1.333", "4.000", "0.150 s"),
        ("u2", "1", "0.333", "0.333", "0.333", "0.000", "0.300 s"),
        ("u3", "1", "0.000", "0.000", "0.000", "0.000", "0.400 s"),
    )
    assert table.total == ("all users", "4", "5.667", "5.667", "1.667", "4.000", "0.250 s")
    assert table.note == "First trial: 3 users, ranked by what they paid."


def test_where_nobody_pays_users_are_ranked_by_value(folder: Path) -> None:
    table = users_by_spend(read(folder))[1]
    assert [row[0] for row in table.rows] == ["u1", "u2", "u3"]
    assert "charges nothing" in table.note


def test_a_user_without_a_first_token_waits_for_an_unknown_time(folder: Path) -> None:
    never = pl.when(pl.col("user") == "u1").then(None).otherwise(pl.col("ttft_s")).alias("ttft_s")
    edit_table(folder / "requests.parquet", never)
    assert users_by_spend(read(folder))[0].rows[0][-1] == "not reported"


def test_statuses_are_counted_over_all_trials_with_their_reasons(folder: Path) -> None:
    def failed(request: str, trial: int) -> pl.Expr:
        return (pl.col("request_id") == request) & (pl.col("trial") == trial) & (pl.col("schedule") == "dfs-bid")

    status = (
        pl.when(failed("a", 0) | failed("a", 1)).then(pl.lit("rejected"))
        .when(failed("b", 0)).then(pl.lit("timeout")).otherwise(pl.col("status")).alias("status")
    )  # fmt: skip
    error = (
        pl.when(failed("a", 0)).then(pl.lit("needs 900 tokens"))
        .when(failed("a", 1)).then(pl.lit("needs 1,200 tokens"))
        .when(failed("b", 0)).then(pl.lit("no answer")).otherwise(None).alias("error")
    )  # fmt: skip
    edit_table(folder / "requests.parquet", status, error)
    first, second = statuses(read(folder))
    # ok, error, timeout, rejected, incomplete
    assert (first.counts, first.total) == ((5, 0, 1, 2, 0), 8)
    assert first.reasons == (("rejected", 2, "for example: needs 900 tokens"), ("timeout", 1, "no answer"))
    assert (second.counts, second.reasons) == ((8, 0, 0, 0, 0), ())
    assert unserved((first, second)) == "Served: dfs-bid 5 of 8 requests (1 timeout, 2 rejected)."
    assert unserved((first, first)) == "Served: 5 of 8 requests (1 timeout, 2 rejected), under every schedule."
    assert unserved((second,)) == ""

from typing import Any

import polars as pl
import pytest

from sim.sweep_frame import axis_column, frame_of


def cell(key: str, **trials: list[dict[str, float | None]]) -> dict[str, Any]:
    schedules = {label.replace("_", "-"): {"trials": rows, "statuses": {"ok": 1}} for label, rows in trials.items()}
    return {"key": key, "summary": {"schedules": schedules}}


def test_a_row_for_every_cell_schedule_and_trial() -> None:
    settings = [{"batching.size": 8, "schedule": "x"}, {"batching.size": 16, "schedule": "y"}, {"batching.size": 32}]
    cells = [
        cell("aa", no_sort=[{"welfare": 1.0, "hit_rate": None}, {"welfare": 2.0, "hit_rate": 0.5}], dfs_bid=[]),
        None,
        cell("cc", dfs_bid=[{"welfare": 3.0, "goodput": 4.0}]),
    ]
    frame = frame_of(settings, cells)
    assert frame.equals(
        pl.DataFrame(
            {
                "cell": [0, 0, 2],
                "key": ["aa", "aa", "cc"],
                "batching.size": [8, 8, 32],
                "schedule": ["no-sort", "no-sort", "dfs-bid"],
                "trial": [0, 1, 0],
                "welfare": [1.0, 2.0, 3.0],
                "hit_rate": [None, 0.5, None],
                "goodput": [None, None, 4.0],
            }
        )
    )


def test_without_a_cell_the_columns_of_the_axes_are_there() -> None:
    frame = frame_of([{"a.b": 1}], [None])
    assert frame.schema == {
        "cell": pl.Int64, "key": pl.String, "a.b": pl.Int64, "schedule": pl.String, "trial": pl.Int64,
    }  # fmt: skip


def test_a_metric_that_is_never_there_is_a_column_of_numbers() -> None:
    assert frame_of([{}], [cell("aa", lpm=[{"goodput": None}])])["goodput"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2], [1, 2]),
        ([0, 0.25, 1], [0.0, 0.25, 1.0]),
        ([True, False], [True, False]),
        (["lru", "1"], ["lru", "1"]),
        ([1, 4, None], ["1", "4", "null"]),
        ([1, True], ["1", "true"]),
        (["a", 1], ['"a"', "1"]),
        ([[1, "é"], {"a": float("inf")}], ['[1, "é"]', '{"a": ".inf"}']),
    ],
)
def test_axis_columns_have_one_type(values: list[Any], column: list[Any]) -> None:
    assert axis_column(values) == column
    assert len({type(value) for value in axis_column(values)}) == 1

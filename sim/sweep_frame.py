"""The results of a sweep as one table: a row for every cell, schedule and trial."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sim.sweep_cell import plain_json

if TYPE_CHECKING:
    import polars as pl

    from sim.sweep import Point

__all__ = ["axis_column", "frame_of", "results_frame"]


def results_frame(points: Iterable[Point], cells: Iterable[dict[str, Any] | None]) -> pl.DataFrame:
    """`frame_of` the settings of points."""
    return frame_of([point.settings for point in points], cells)


def frame_of(settings: Sequence[dict[str, Any]], cells: Iterable[dict[str, Any] | None]) -> pl.DataFrame:
    """Every finished cell's metrics, sorted by (cell, schedule order, trial).

    Columns: ``cell`` (index of the point), ``key``, one for each axis (`axis_column`; a point without it has null),
    ``schedule``, ``trial``, then the metrics of `sim.metrics.trial_metrics`. An axis called ``schedule`` has no column
    besides the label's. O(rows); the cells are read one after another.
    """
    import polars as pl

    index: dict[str, list[Any]] = {"cell": [], "key": [], "schedule": [], "trial": []}
    measured: list[dict[str, float | None]] = []
    for number, cell in enumerate(cells):
        for label, summary in (cell["summary"]["schedules"] if cell else {}).items():
            for trial, metrics in enumerate(summary["trials"]):
                for column, value in zip(index.values(), (number, cell and cell["key"], label, trial), strict=True):
                    column.append(value)
                measured.append(metrics)
    types = {"cell": pl.Int64, "key": pl.String, "schedule": pl.String, "trial": pl.Int64}
    known = {name: pl.Series(name, values, types[name]) for name, values in index.items()}
    axes = dict.fromkeys(key for point in settings for key in point if key != "schedule")
    metrics_names = dict.fromkeys(name for row in measured for name in row)
    return pl.DataFrame(
        [
            *(known[name] for name in ("cell", "key")),
            *(_axis(settings, key, index["cell"]) for key in axes),
            *(known[name] for name in ("schedule", "trial")),
            *(pl.Series(name, [row.get(name) for row in measured], pl.Float64) for name in metrics_names),
        ]
    )


def axis_column(values: Sequence[Any]) -> list[Any]:
    """The values of an axis as a column of one type: as they are when all are numbers, all words or all booleans.

    Whole numbers among fractions become fractions; of a mixture, of blocks and lists, and of null, the JSON.

    >>> axis_column([0, 0.5]), axis_column([1, 4, None]), axis_column(["lru", "fifo"])
    ([0.0, 0.5], ['1', '4', 'null'], ['lru', 'fifo'])
    """
    kinds = {type(value) for value in values}
    if kinds <= {int, float} and len(kinds) == 2:
        return [float(value) for value in values]
    if len(kinds) <= 1 and kinds <= {int, float, bool, str}:
        return list(values)
    return [json.dumps(plain_json(value), ensure_ascii=False) for value in values]


def _axis(settings: Sequence[dict[str, Any]], key: str, cells: Sequence[int]) -> pl.Series:
    import polars as pl

    there = {number: point[key] for number, point in enumerate(settings) if key in point}
    column = dict(zip(there, axis_column(list(there.values())), strict=True))
    kind = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}[type(next(iter(column.values())))]
    return pl.Series(key, [column.get(cell) for cell in cells], kind)

"""One auction after another: revenue and welfare per batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from reports.chart import Chart, axis, figure, plain
from reports.series import Series

__all__ = ["over_time", "per_batch"]

#: Points a curve; with more batches, neighbours are averaged.
POINTS = 400


def per_batch(auctions: pl.DataFrame, column: str, points: int = POINTS) -> pl.DataFrame:
    """batch, column: every batch, or means over equal runs of neighbouring batches."""
    rows = auctions.select("batch", column).drop_nulls().sort("batch")
    run = math.ceil(len(rows) / points)
    if run <= 1:
        return rows
    group = (pl.int_range(pl.len()) // run).alias("group")
    return rows.group_by(group, maintain_order=True).agg(pl.col("batch").first(), pl.col(column).mean())[
        ["batch", column]
    ]


def over_time(series: Sequence[Series]) -> tuple[Chart, ...]:
    """Revenue and scheduled welfare per batch of the first trial; nothing when no trial has a second batch."""
    tables = [(one, one.first_trial(one.run.auctions)) for one in series]
    if all(len(table) < 2 for _, table in tables):
        return ()
    most = max(len(table) for _, table in tables)
    caption = "First trial."
    if most > POINTS:
        caption += f" {most:,} batches: each point is the mean of {math.ceil(most / POINTS)} neighbours."
    shown = {
        "revenue": ("Revenue per batch", "What the users of the batch pay together."),
        "scheduled_welfare": ("Scheduled welfare per batch", "Σ v·x in the order the auction decided."),
    }
    charts = []
    for column, (title, words) in shown.items():
        drawn = [(one, per_batch(table, column)) for one, table in tables]
        traces = [_line(one, rows, column) for one, rows in drawn if len(rows)]
        x = axis("batch", **({"dtick": 1} if most <= 20 else {}))
        charts.append(
            Chart(
                key=f"auctions-{column}",
                title=title,
                caption=f"{words} {caption}",
                figure=figure(traces, x=x, y=axis(title.lower(), rangemode="tozero")) if traces else None,
                missing="Not reported.",
            )
        )
    return tuple(charts)


def _line(one: Series, rows: pl.DataFrame, column: str) -> go.Scatter:
    return go.Scatter(
        x=rows["batch"].to_list(),
        y=rows[column].to_list(),
        mode="lines+markers" if len(rows) <= 60 else "lines",
        name=plain(one.label),
        line={**one.line, "width": 1.5},
        marker={"symbol": one.symbol, "size": 6, "color": one.css},
        hovertemplate=f"batch %{{x}}: %{{y:.4g}}<extra>{plain(one.label)}</extra>",
    )

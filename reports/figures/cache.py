"""The KV cache over time: how full it is, and what share of prompt tokens it saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import polars as pl

from reports.chart import Chart, axis, figure, plain
from reports.load import Run
from reports.series import Series, finite

__all__ = ["capacity_tokens", "hit_rate", "occupancy", "peaks", "windows"]

#: Slices of time an occupancy curve is drawn with, and windows of the hit rate.
SLICES, WINDOWS = 500, 60


def capacity_tokens(run: Run) -> int | None:
    """Tokens the KV cache holds: what the manifest says the backend had, else the scenario's, else the profile's.

    None = unbounded or not said.
    """
    blocks = (run.manifest.get("backend"), run.scenario.get("backend"), run.manifest.get("profile"))
    for block in blocks:
        found = block.get("kv_tokens", "profile") if isinstance(block, Mapping) else "profile"
        if found != "profile":  # which is to say: what the profile says
            return int(found) if finite(found) is not None else None
    return None


def peaks(steps: pl.DataFrame, slices: int = SLICES) -> pl.DataFrame:
    """start_s, kv_used_tokens: every step, or the fullest moment in each of `slices` equal slices of time."""
    steps = steps.select("start_s", "kv_used_tokens").drop_nulls().sort("start_s")
    if len(steps) <= slices:
        return steps
    start = pl.col("start_s")
    width = (start.max() - start.min()) / slices
    slot = ((start - start.min()) / width).floor().clip(0, slices - 1).alias("slot")
    return (
        steps.with_columns(slot)
        .group_by("slot")
        .agg(pl.col("start_s").first(), pl.col("kv_used_tokens").max())
        .sort("slot")
        .drop("slot")
    )


def windows(requests: pl.DataFrame, width_s: float) -> pl.DataFrame:
    """end_s, hit_rate: Σ cached / Σ prompt tokens of the requests whose prefill began in each window of time.

    Requests of which the server did not say how much was cached are left out, above and below the line; a window
    in which none began is null.
    """
    began = pl.coalesce("admitted_s", "first_token_s")
    known = requests.with_columns((began / width_s).floor().cast(pl.Int64).alias("window"))
    rates = (
        known.drop_nulls(["window", "cached_tokens"])
        .group_by("window")
        .agg((pl.col("cached_tokens").sum() / pl.col("prompt_tokens").sum()).alias("hit_rate"))
    )
    last = rates["window"].max()
    if not isinstance(last, int):
        return pl.DataFrame(schema={"end_s": pl.Float64, "hit_rate": pl.Float64})
    every = pl.DataFrame({"window": pl.int_range(last + 1, eager=True)})
    return every.join(rates, on="window", how="left", maintain_order="left").select(
        ((pl.col("window") + 1) * width_s).alias("end_s"), "hit_rate"
    )


def occupancy(series: Sequence[Series]) -> Chart:
    """Tokens in use over the first trial, with the capacity where it is known."""
    traces, absent = [], []
    for one in series:
        steps = one.run.engine_steps
        drawn = None if steps is None else peaks(one.first_trial(steps))
        if drawn is None or len(drawn) == 0:
            absent.append(one.label)
            continue
        traces.append(_line(one, drawn["start_s"], drawn["kv_used_tokens"], "%{y:,} tokens", shape="hv"))
    if traces:
        traces.extend(_capacity_line(series, max(max(trace.x) for trace in traces)))
    caption = f"First trial. Each point is the fullest moment in one of up to {SLICES} slices of time."
    if traces and absent:
        caption += f" No engine steps were recorded for {', '.join(absent)}."
    return Chart(
        key="cache-occupancy",
        title="KV cache in use",
        caption=caption,
        figure=figure(traces, x=axis("time (s)"), y=axis("tokens", rangemode="tozero")) if traces else None,
        missing="The run has no engine_steps.parquet: this backend does not record what each engine step held.",
    )


def hit_rate(series: Sequence[Series]) -> Chart:
    """Hit rate in windows of time over the first trial."""
    tables = [one.first_trial(one.run.requests) for one in series]
    ends = [found for table in tables if isinstance(found := table["first_token_s"].max(), float)]
    traces = []
    for one, table in zip(series, tables, strict=True):
        drawn = windows(table, max(ends) / WINDOWS) if ends and max(ends) > 0 else None
        if drawn is not None and len(drawn):
            traces.append(_line(one, drawn["end_s"], drawn["hit_rate"], "%{y:.1%} of prompt tokens"))
    return Chart(
        key="cache-hit-rate",
        title="Hit rate",
        caption=f"First trial. Σ cached / Σ prompt tokens of the requests whose prefill began in each of {WINDOWS}"
        " windows of time.",
        figure=figure(traces, x=axis("time (s)"), y=axis("hit rate", range=[0, 1.02], tickformat=".0%"))
        if traces
        else None,
        missing="Not reported: the backend did not say how many prompt tokens came from the cache.",
    )


def _capacity_line(series: Sequence[Series], end_s: float) -> list[go.Scatter]:
    held = {capacity_tokens(one.run) for one in series} - {None}
    return [
        go.Scatter(
            x=[0, end_s],
            y=[tokens, tokens],
            mode="lines",
            name=f"capacity {tokens:,}",
            line={"color": "var(--muted)", "dash": "dot", "width": 1.5},
            hovertemplate="capacity %{y:,} tokens<extra></extra>",
        )
        for tokens in sorted(tokens for tokens in held if tokens is not None)
    ]


def _line(one: Series, x: Any, y: Any, told: str, *, shape: str = "linear") -> go.Scatter:
    return go.Scatter(
        x=x.to_list(),
        y=y.to_list(),
        mode="lines",
        name=plain(one.label),
        line={**one.line, "width": 1.5, "shape": shape},
        hovertemplate=f"%{{x:.4g}} s: {told}<extra>{plain(one.label)}</extra>",
    )

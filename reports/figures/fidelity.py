"""Figures of a validation: simulated against live, request by request, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import polars as pl

from mechanism.prompts import FloatArray
from reports.chart import Chart, axis, figure, plain, time_scale

__all__ = ["Pairs", "hit_rate_over_time", "residuals", "scatter"]

#: Marks a schedule: more are hard to see through.
MARKS = 1_000


@dataclass(frozen=True)
class Pairs:
    """One schedule's requests, served live and simulated: columns of requests.parquet, the simulated ones with `_s`."""

    schedule: str
    slot: int
    rows: pl.DataFrame

    @classmethod
    def of(cls, live: pl.DataFrame, simulated: pl.DataFrame) -> list[Pairs]:
        """Of every schedule, trial by trial."""
        key = ["schedule", "trial", "request_id"]
        ok = pl.col("status") == "ok"
        both = live.filter(ok).join(simulated.filter(ok), on=key, suffix="_s", maintain_order="left")
        names = both["schedule"].unique(maintain_order=True).to_list()
        return [cls(name, slot, both.filter(pl.col("schedule") == name)) for slot, name in enumerate(names)]

    @property
    def css(self) -> str:
        """Its colour."""
        return f"var(--s{self.slot % 8})"

    def sample(self) -> pl.DataFrame:
        """At most MARKS rows, evenly."""
        step = -(-self.rows.height // MARKS) or 1
        return self.rows.gather_every(step)


def scatter(several: Sequence[Pairs]) -> Chart:
    """Server TTFT: live across, simulated up."""
    largest = max((_largest(each.rows["server_ttft_s"]) for each in several), default=0.0)
    unit, scale = time_scale(largest)
    traces = []
    for each in several:
        rows = each.sample()
        x, y = (scale * rows[name].to_numpy() for name in ("server_ttft_s", "server_ttft_s_s"))
        traces.append(_marks(each, x, y, f"live %{{x:.4g}} {unit}, simulated %{{y:.4g}} {unit}"))
    ends = [0, scale * largest * 1.05]
    style = {"color": "var(--muted)", "width": 1.5, "dash": "dot"}
    traces.append(go.Scatter(x=ends, y=ends, mode="lines", name="equal", line=style, hoverinfo="skip"))
    return Chart(
        key="scatter",
        title="Time to first token",
        caption=f"From dispatch. First live run and its simulation; at most {MARKS:,} requests a schedule.",
        figure=figure(traces, x=axis(f"live, {unit}"), y=axis(f"simulated, {unit}")) if several else None,
        missing="No request was served in both.",
    )


def residuals(several: Sequence[Pairs]) -> tuple[Chart, Chart]:
    """Relative difference of server TTFT, by prompt tokens and by the cached tokens the server reported."""
    return (
        _residual(several, "prompt_tokens", "prompt tokens", "Difference by prompt"),
        _residual(several, "cached_tokens", "cached tokens", "Difference by cached tokens"),
    )


def hit_rate_over_time(several: Sequence[Pairs]) -> Chart:
    """Σ cached / Σ prompt tokens so far, by first token; live drawn through, simulated dotted."""
    end_s = max((_largest(each.rows["first_token_s"]) for each in several), default=0.0)
    unit, scale = time_scale(end_s)
    traces = []
    for each in several:
        if each.rows["cached_tokens"].null_count() == each.rows.height:
            continue
        for suffix, name, dash in (("", "live", "solid"), ("_s", "simulated", "dot")):
            x, y = _running_hit_rate(each.rows, suffix)
            label, line = f"{plain(each.schedule)}, {name}", {"color": each.css, "width": 2, "dash": dash}
            traces.append(go.Scatter(x=scale * x, y=100 * y, mode="lines", name=label, line=line))
    return Chart(
        key="hit-rate",
        title="Hit rate over time",
        caption="Of the requests so far, first trial of the first run. Each on its own clock.",
        figure=figure(traces, x=axis(f"first token, {unit}"), y=axis("hit rate so far, %", rangemode="tozero"))
        if traces
        else None,
        missing="The server did not report cached tokens.",
    )


def _residual(several: Sequence[Pairs], column: str, label: str, title: str) -> Chart:
    traces = []
    for each in several:
        rows = each.sample().drop_nulls(column)
        live, ours = (rows[name].to_numpy() for name in ("server_ttft_s", "server_ttft_s_s"))
        x, y = rows[column].to_numpy(), 100 * (ours / live - 1)
        if len(x):
            traces.append(_marks(each, x, y, f"%{{x:,}} {label}: %{{y:+.1f}} %"))
    return Chart(
        key=f"residual-{column.replace('_', '-')}",
        title=title,
        caption="(Simulated − live) / live server TTFT.",
        figure=figure(traces, x=axis(label), y=axis("difference, %", zeroline=True)) if traces else None,
        missing="Nothing to compare.",
        height=340,
    )


def _marks(each: Pairs, x: FloatArray, y: FloatArray, told: str) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        name=plain(each.schedule),
        marker={"color": each.css, "size": 5, "opacity": 0.6},
        hovertemplate=f"{told}<extra>{plain(each.schedule)}</extra>",
    )


def _running_hit_rate(rows: pl.DataFrame, suffix: str) -> tuple[FloatArray, FloatArray]:
    """(first token times, share) of the first trial, thinned to MARKS."""
    time, cached = f"first_token_s{suffix}", f"cached_tokens{suffix}"
    known = rows.filter(pl.col("trial") == pl.col("trial").min()).drop_nulls([time, cached]).sort(time)
    share = np.cumsum(known[cached].to_numpy()) / np.cumsum(known["prompt_tokens"].to_numpy())
    step = -(-len(share) // MARKS) or 1
    return known[time].to_numpy()[::step], share[::step]


def _largest(times: pl.Series) -> float:
    found = times.max()
    return float(found) if isinstance(found, int | float) else 0.0

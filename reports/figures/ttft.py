"""Who waits: time to first token per schedule and by bid decile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import polars as pl

from reports.chart import Chart, axis, figure, plain, time_scale
from reports.series import Series

__all__ = ["decile_facets", "ecdf", "overall", "with_deciles"]

_Array = npt.NDArray[np.float64]
#: Steps drawn a curve; more cannot be seen.
POINTS = 300


def with_deciles(requests: pl.DataFrame) -> pl.DataFrame:
    """Add `decile`: 1 for the lowest bids of a trial … 10 for the highest.

    decile = ⌈10 · average rank / n⌉ within the trial, so equal bids share a decile, and some deciles may stand
    empty. Null where the bid is.
    """
    rank = pl.col("bid").rank("average").over("trial")
    share = rank / pl.col("bid").count().over("trial")
    # 10 · (3/10) is 3.0000000000000004 for some n: take the dust off before rounding up
    return requests.with_columns((10 * share).round(9).ceil().clip(1, 10).cast(pl.Int64).alias("decile"))


def ecdf(ttft: pl.Series, points: int = POINTS) -> tuple[_Array, _Array]:
    """Steps of the empirical distribution: at time x, the share y of *all* given requests had a first token.

    A null TTFT is a request that never got one: it counts below the line, so the curve ends under 1. At most
    `points` steps, at even ranks, the first and the last kept.

    >>> x, y = ecdf(pl.Series([3.0, 1.0, None, 2.0]))
    >>> x.tolist(), y.tolist()
    ([1.0, 1.0, 2.0, 3.0], [0.0, 0.25, 0.5, 0.75])
    """
    served = np.sort(ttft.drop_nulls().to_numpy())
    if len(served) == 0:
        return np.empty(0), np.empty(0)
    ranks = np.unique(np.linspace(1, len(served), min(points, len(served))).round().astype(np.int64))
    return (
        np.concatenate((served[:1], served[ranks - 1])),
        np.concatenate(([0.0], ranks / len(ttft))),
    )


def dispatched(series: Series) -> pl.DataFrame:
    """The requests that could get a first token: all but the rejected."""
    return series.rows(series.run.requests).filter(pl.col("status") != "rejected")


def overall(series: Sequence[Series]) -> tuple[Chart, Chart]:
    """Two charts: the distribution of TTFT per schedule, and its mean by bid decile."""
    name, scale = time_scale(_largest_s(series))
    tables = [(one, dispatched(one)) for one in series]
    curves = [_curve(one, rows, name, scale) for one, rows in tables]
    means = [_means(one, rows, name, scale) for one, rows in tables]
    served = any(len(curve.x) for curve in curves)
    missing = "" if served else "No request got a first token."
    time = axis(f"TTFT ({name})", rangemode="tozero")
    decile, wait = axis("bid decile", range=[0.5, 10.5], dtick=1), axis(f"mean TTFT ({name})", rangemode="tozero")
    return (
        Chart(
            key="ttft-all",
            title="All requests",
            caption="Share of the requests that had their first token by then. Further left is quicker.",
            figure=figure(curves, x=time, y=_SHARE) if served else None,
            missing=missing,
        ),
        Chart(
            key="ttft-deciles",
            title="Mean by bid decile",
            caption="1 = the tenth of the requests with the lowest bids, 10 = the highest; equal bids share a"
            " decile. A line that falls to the right: who bids more waits less.",
            figure=figure(means, x=decile, y=wait) if served else None,
            missing=missing,
        ),
    )


def _curve(one: Series, rows: pl.DataFrame, name: str, scale: float) -> go.Scatter:
    x, y = ecdf(rows["ttft_s"])
    hover = f"%{{y:.0%}} of requests within %{{x:.4g}} {name}<extra>{plain(one.label)}</extra>"
    return _line(one, x * scale, y, hover, shape="hv")


def _means(one: Series, rows: pl.DataFrame, name: str, scale: float) -> go.Scatter:
    grouped = with_deciles(rows).drop_nulls("decile").group_by("decile").agg(pl.col("ttft_s").mean(), pl.len())
    drawn = grouped.drop_nulls("ttft_s").sort("decile")
    hover = f"decile %{{x}}: mean %{{y:.4g}} {name}, %{{customdata}} requests<extra>{plain(one.label)}</extra>"
    style: dict[str, Any] = {
        "mode": "lines+markers",
        "marker": {"symbol": one.symbol, "size": 8, "color": one.css},
        "customdata": drawn["len"].to_list(),
    }
    return _line(one, drawn["decile"], drawn["ttft_s"] * scale, hover, **style)


def decile_facets(series: Sequence[Series]) -> tuple[Chart, ...]:
    """One chart a schedule: the distribution of TTFT in each bid decile, on one common time axis."""
    largest_s = _largest_s(series)
    name, scale = time_scale(largest_s)
    time = axis(f"TTFT ({name})", range=[0, (largest_s or 0) * scale * 1.02])
    charts = []
    for position, one in enumerate(series):
        rows = with_deciles(dispatched(one)).drop_nulls("decile")
        curves = []
        for decile in range(1, 11):
            x, y = ecdf(rows.filter(pl.col("decile") == decile)["ttft_s"], POINTS // 3)
            if len(x):
                hover = f"%{{y:.0%}} within %{{x:.4g}} {name}<extra>decile {decile}</extra>"
                line = {"color": f"var(--d{decile})", "width": 2, "shape": "hv"}
                curves.append(
                    go.Scatter(x=x * scale, y=y, mode="lines", name=str(decile), line=line, hovertemplate=hover)
                )
        charts.append(
            Chart(
                key=f"ttft-facet-{position}",
                title=one.label,
                figure=figure(curves, x=time, y=_SHARE, legend=False) if curves else None,
                missing="" if curves else "No request of this schedule got a first token.",
                height=320,
            )
        )
    return tuple(charts)


_SHARE = axis("share of requests", range=[0, 1.02], tickformat=".0%")


def _largest_s(series: Sequence[Series]) -> float | None:
    maxima = [dispatched(one)["ttft_s"].max() for one in series]
    return max((float(found) for found in maxima if isinstance(found, float)), default=None)


def _line(one: Series, x: Any, y: Any, hover: str, *, shape: str = "linear", **extra: Any) -> go.Scatter:
    """One series' line in its colour and dash."""
    style = {"name": plain(one.label), "mode": "lines", "line": {**one.line, "shape": shape}}
    return go.Scatter(x=list(x), y=list(y), hovertemplate=hover, **{**style, **extra})

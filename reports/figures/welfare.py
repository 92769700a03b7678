"""The trade: welfare on the realised order against the mean wait for the first token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain, time_scale
from reports.series import Series, finite
from reports.text import Unit, estimate

__all__ = ["against_ttft"]

#: Marks that still have room for their names; with more, the legend has to do.
LABELS = 6
_WELFARE, _TTFT = "welfare_pct_over_random", "mean_ttft_ms"


def against_ttft(series: Sequence[Series]) -> Chart:
    """A point a schedule with bars of one standard error, and a faint point a trial."""
    found = [one for one in series if None not in (one.metric(_WELFARE).mean, one.metric(_TTFT).mean)]
    means = [one.metric(_TTFT).mean or 0.0 for one in found]
    name, per_s = time_scale(max(means, default=0.0) / 1e3)
    labelled = len(found) <= LABELS
    traces = [trace for one in found for trace in _traces(one, per_s / 1e3, name, labelled=labelled)]
    absent = [one.label for one in series if one not in found]
    caption = (
        "Up and to the left is better. Large marks are means over trials with bars of one standard error; faint"
        " marks are single trials."
    )
    if absent:
        caption += f" Not drawn, for want of a number: {', '.join(absent)}."
    return Chart(
        key="welfare-ttft",
        title="Realised welfare against mean TTFT",
        caption=caption,
        figure=figure(
            traces,
            # room on the right for the names
            x=axis(f"mean TTFT ({name})", range=[0, 1.2 * max(means) * per_s / 1e3]),
            y=axis("welfare over a random order (%)", zeroline=True),
        )
        if traces
        else None,
        missing="No schedule has both a welfare and a TTFT: no request got a first token.",
        height=420,
    )


def _traces(one: Series, per_ms: float, name: str, *, labelled: bool) -> Iterator[go.Scatter]:
    trials = [
        (x * per_ms, y)
        for trial in one.record.get("trials", [])
        if (x := finite(trial.get(_TTFT))) is not None and (y := finite(trial.get(_WELFARE))) is not None
    ]
    if len(trials) > 1:
        yield go.Scatter(
            x=[x for x, _ in trials],
            y=[y for _, y in trials],
            mode="markers",
            showlegend=False,
            marker={"color": one.css, "symbol": one.symbol, "size": 7, "opacity": 0.35},
            hovertemplate=f"one trial: %{{x:.4g}} {name}, %{{y:+.2f}} %<extra>{plain(one.label)}</extra>",
        )
    welfare, ttft = one.metric(_WELFARE), one.metric(_TTFT)
    told = f"{estimate(welfare, Unit('%', signed=True))}<br>{estimate(ttft, Unit(name, per_ms))}"
    yield go.Scatter(
        x=[(ttft.mean or 0.0) * per_ms],
        y=[welfare.mean],
        mode="markers+text" if labelled else "markers",
        text=[f"  {plain(one.label)}"],
        textposition="middle right",
        cliponaxis=False,
        textfont={"color": one.css},
        name=plain(one.label),
        marker={"color": one.css, "symbol": one.symbol, "size": 13},
        error_x=_bar(ttft.se, per_ms, one),
        error_y=_bar(welfare.se, 1.0, one),
        hovertemplate=f"{told}<br>n = {welfare.n}<extra>{plain(one.label)}</extra>",
    )


def _bar(se: float | None, scale: float, one: Series) -> dict[str, Any]:
    if se is None:
        return {"visible": False}
    return {"type": "data", "array": [se * scale], "color": one.css, "thickness": 1.5, "width": 5}

"""Welfare against mean TTFT: what nothing beats in colour, what something beats in grey."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from reports.chart import Chart, figure, plain
from reports.chart import axis as axis_of
from reports.compare_look import Look, Shown
from sim.compare import Comparison
from sim.compare_front import FrontPoint
from sim.compare_keys import short

__all__ = ["front"]

#: Grey points drawn; of more, every so many-th.
_GREY = 1500
#: Points of the front that are few enough to be labelled.
_LABELLED = 14


def front(
    comparison: Comparison,
    points: Sequence[FrontPoint],
    looks: Sequence[Look],
    welfare: Shown,
    ttft: Shown,
    link: Callable[[FrontPoint], str | None],
) -> Chart:
    """All points; those of the front that have a page are labelled with a link to it.

    Parameters
    ----------
    link : a point's page relative to this one, None where there is none.
    """
    beaten = [point for point in points if point.dominated]
    best = [point for point in points if not point.dominated]
    step = max(1, -(-len(beaten) // _GREY))
    traces = [_marks(comparison, beaten[::step], "beaten", "var(--muted)", "circle", welfare, ttft, 0.35)]
    for look in looks:
        mine = [point for point in best if point.contender == look.name]
        if mine:
            traces.append(_marks(comparison, mine, look.label, look.css, look.symbol, welfare, ttft, 1.0))
    if len(best) <= _LABELLED:
        traces.append(_labels(best, welfare, ttft, link))
    groups = len({row.requests for setting in comparison.settings for row in setting.rows.values()})
    caption = (
        "Up and to the left is better. Grey: another point on the same requests waits no longer at no less welfare."
    )
    if groups > 1:
        caption += f" There are {groups:,} sets of requests, so {groups:,} fronts: other requests are no alternative."
    if len(best) <= _LABELLED and comparison.axes:
        caption += f" Labels: {', '.join(axis.key for axis in comparison.axes)}."
    if step > 1:
        caption += f" One grey point in {step} is drawn."
    return Chart(
        key="front",
        title="Welfare against waiting",
        caption=caption,
        figure=figure(
            traces,
            x=axis_of(f"mean TTFT ({ttft.unit.name})"),
            y=axis_of(
                f"{welfare.title}{f' ({welfare.unit.name})' if welfare.unit.name else ''}",
                range=_with_room([point.welfare * welfare.unit.scale for point in points]),
            ),
        )
        if points
        else None,
        missing="Welfare or TTFT was not measured.",
        height=460,
    )


def _with_room(heights: Sequence[float]) -> list[float]:
    """The range of the welfare axis: Plotly's own leaves room for marks, not for the labels above them."""
    low, high = min(heights), max(heights)
    reach = high - low or abs(high) or 1.0
    return [low - 0.06 * reach, high + 0.16 * reach]


def _marks(
    comparison: Comparison,
    points: Sequence[FrontPoint],
    name: str,
    color: str,
    symbol: str,
    welfare: Shown,
    ttft: Shown,
    opacity: float,
) -> go.Scatter:
    told = [
        f"{plain(point.contender)}<br>{plain(comparison.name_of(point.setting)).replace(', ', '<br>')}"
        for point in points
    ]
    return go.Scatter(
        x=[point.ttft_ms * ttft.unit.scale for point in points],
        y=[point.welfare * welfare.unit.scale for point in points],
        mode="markers",
        name=name,
        marker={"color": color, "symbol": symbol, "size": 10 if opacity == 1 else 7, "opacity": opacity},
        text=told,
        hovertemplate=f"%{{text}}<br>welfare %{{y:.4g}} {welfare.unit.name}, TTFT %{{x:.4g}} {ttft.unit.name}"
        "<extra></extra>",
    )


def _labels(
    points: Sequence[FrontPoint],
    welfare: Shown,
    ttft: Shown,
    link: Callable[[FrontPoint], str | None],
) -> go.Scatter:
    """The settings of the front's points, as links where they have a page."""
    texts = []
    for point in points:
        name = plain(", ".join(map(short, point.setting.values)) or point.contender)
        page = link(point)
        linked = name if page is None else f'<a href="{html.escape(page)}">{name}</a>'
        texts.append(f"{linked}<br>\N{NO-BREAK SPACE}")  # the empty line lifts it off its mark
    return go.Scatter(
        x=[point.ttft_ms * ttft.unit.scale for point in points],
        y=[point.welfare * welfare.unit.scale for point in points],
        mode="text",
        text=texts,
        textposition="top center",
        cliponaxis=False,
        textfont={"size": 11, "color": "var(--muted)"},
        hoverinfo="skip",
        showlegend=False,
    )

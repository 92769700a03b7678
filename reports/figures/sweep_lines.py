"""Metrics and paired differences over one axis: a line a contender, with t intervals over trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.compare_look import Look, Shown, key_of
from reports.compare_slices import Slices
from reports.series import DASHES
from sim.compare import Comparison, Setting
from sim.compare_axes import Axis
from sim.compare_keys import short, word
from sim.compare_stats import Interval, interval_of

__all__ = ["dots", "lines", "value_at"]

#: How far the marks of two contenders stand apart, as a share of the axis, so that their whiskers can be seen.
_APART = 0.008
#: Values that all get a tick of their own.
_TICKS = 12


def value_at(
    comparison: Comparison, settings: Sequence[Setting], contender: str, metric: str, *, difference: bool
) -> Interval:
    """The mean over settings of a metric, or of its paired difference to the baseline."""
    if difference:
        return interval_of(comparison.mean_differences(settings, contender, metric))
    return comparison.average(settings, contender, metric)


def lines(
    comparison: Comparison, place: int, cut: Slices, looks: Sequence[Look], shown: Shown, *, difference: bool = False
) -> Chart:
    """One metric over the axis `place`; without whole slices a mark a setting instead of lines."""
    along = comparison.axes[place]
    unit = shown.difference if difference else shown.unit
    drawn = [look for look in looks if not (difference and look.name == comparison.baseline)]
    traces = []
    for slot, look in enumerate(drawn):
        shift = (slot - (len(drawn) - 1) / 2) * _APART if cut.averaged else 0.0
        points = _points(comparison, place, cut, look, shown, difference=difference)
        points = [(_beside(along, x, shift), found, told) for x, found, told in points if found.mean is not None]
        if points:
            traces.append(_trace(look, points, shown, unit.scale, joined=cut.averaged > 0, difference=difference))
    name = f"{shown.title}, difference to {comparison.baseline}" if difference else shown.title
    tail = f" ({unit.name})" if unit.name else ""
    return Chart(
        key=key_of("difference" if difference else "level", along.key, shown.name),
        title=name + shown.arrow,
        caption=cut.note,
        figure=figure(
            traces, x=_axis(along), y=axis(f"{'difference' if difference else shown.title}{tail}"), **_zero(difference)
        )
        if traces
        else None,
        missing=_why_missing(difference),
        height=340,
    )


def dots(
    comparison: Comparison,
    settings: Sequence[Setting],
    looks: Sequence[Look],
    shown: Shown,
    *,
    difference: bool = False,
) -> Chart:
    """One metric, a mark a contender, averaged over settings."""
    unit = shown.difference if difference else shown.unit
    traces = []
    for look in looks:
        found = value_at(comparison, settings, look.name, shown.name, difference=difference)
        if found.mean is not None and not (difference and look.name == comparison.baseline):
            traces.append(_dot(look, found, shown, unit.scale, difference=difference))
    name = f"{shown.title}, difference to {comparison.baseline}" if difference else shown.title
    layout: dict[str, Any] = {"shapes": [_line("x")]} if difference else {}
    return Chart(
        key=key_of("difference" if difference else "level", "all", shown.name),
        title=name + shown.arrow,
        figure=figure(
            traces,
            x=axis(f"{shown.title}{f' ({unit.name})' if unit.name else ''}"),
            y=axis("", autorange="reversed", type="category"),
            legend=False,
            **layout,
        )
        if traces
        else None,
        missing=_why_missing(difference),
        height=90 + 34 * max(2, len(traces)),
    )


def _points(
    comparison: Comparison, place: int, cut: Slices, look: Look, shown: Shown, *, difference: bool
) -> list[tuple[Any, Interval, str]]:
    """x, the interval there, and what the reader is told when he points at it."""
    along = comparison.axes[place]
    if cut.averaged == 0:
        found = []
        for setting in comparison.settings:
            value = value_at(comparison, [setting], look.name, shown.name, difference=difference)
            found.append((setting.values[place], value, comparison.name_of(setting)))
        return found
    points = []
    for value, text in zip(along.values, along.words, strict=True):
        there = cut.at.get((text,), ())
        interval = value_at(comparison, there, look.name, shown.name, difference=difference)
        points.append((value, interval, f"{along.key}={text}"))
    return points


def _trace(
    look: Look,
    points: Sequence[tuple[Any, Interval, str]],
    shown: Shown,
    scale: float,
    *,
    joined: bool,
    difference: bool,
) -> go.Scatter:
    halves = [0.0 if found.high is None else (found.high - (found.mean or 0.0)) * scale for _, found, _ in points]
    told = [f"{plain(words)}: {shown.text(found, difference=difference)}, n = {found.n}" for _, found, words in points]
    return go.Scatter(
        x=[x for x, _, _ in points],
        y=[(found.mean or 0.0) * scale for _, found, _ in points],
        mode="lines+markers" if joined else "markers",
        name=look.label,
        line={"color": look.css, "dash": DASHES[look.dash], "width": 2},
        marker={"color": look.css, "symbol": look.symbol, "size": 7, "opacity": 1 if joined else 0.7},
        error_y={"type": "data", "array": halves, "color": look.css, "thickness": 1.3, "width": 4, "visible": joined},
        text=told,
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _dot(look: Look, found: Interval, shown: Shown, scale: float, *, difference: bool) -> go.Scatter:
    half = 0.0 if found.high is None else (found.high - (found.mean or 0.0)) * scale
    return go.Scatter(
        x=[(found.mean or 0.0) * scale],
        y=[look.label],
        mode="markers",
        name=look.label,
        marker={"color": look.css, "symbol": look.symbol, "size": 10},
        error_x={"type": "data", "array": [half], "color": look.css, "thickness": 1.6, "width": 5},
        hovertemplate=f"{shown.text(found, difference=difference)}, n = {found.n}<extra>%{{fullData.name}}</extra>",
    )


def _beside(along: Axis, value: Any, shift: float) -> float:
    """Where a value is drawn, moved by a share of the axis; what is no number stands at its place in the order."""
    if not along.numeric:
        return along.words.index(word(value)) + shift * max(1, len(along.values) - 1)
    low, high = along.values[0], along.values[-1]
    return float(value * (high / low) ** shift if along.log else value + shift * (high - low))


def _axis(along: Axis) -> dict[str, Any]:
    """The axis' key, linear, logarithmic or by category, with a tick for each value where they are few."""
    places = list(along.values) if along.numeric else list(range(len(along.values)))
    kind: dict[str, Any] = {"type": "log"} if along.log else {}
    if len(places) <= _TICKS or not along.numeric:
        kind |= {"tickmode": "array", "tickvals": places, "ticktext": [plain(short(value)) for value in along.values]}
    return axis(plain(along.key), **kind)


def _zero(difference: bool) -> dict[str, Any]:
    return {"shapes": [_line("y")]} if difference else {}


def _line(across: str) -> dict[str, Any]:
    """A line at zero of the axis `across`, the whole figure long."""
    along = "x" if across == "y" else "y"
    ends = {f"{across}0": 0, f"{across}1": 0, f"{along}0": 0, f"{along}1": 1, f"{along}ref": "paper"}
    return {"type": "line", "line": {"color": "var(--ink)", "width": 1.5}, "layer": "below", **ends}


def _why_missing(difference: bool) -> str:
    return "Nobody met the baseline's requests." if difference else "Not measured."

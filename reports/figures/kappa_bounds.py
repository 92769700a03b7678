"""What is guaranteed against what came of it, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.series import COLORS
from sim.kappa_details import KappaDetails
from sim.kappa_report import KappaGroup
from sim.kappa_words import batch_name

__all__ = ["against_realised", "over_batches"]

#: Marks drawn a schedule; those nearest to their bound are among them.
POINTS = 1500
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def against_realised(groups: Sequence[KappaGroup]) -> Chart:
    """A mark a batch, κ bound against realised share; below the diagonal nothing can be."""
    batches = [batch for group in groups for batch in group.batches]
    lowest = min((float(batch.found.bound.bound) for batch in batches), default=0.0)
    low = max(0.0, 100 * lowest - 5)
    wrong = [batch for batch in batches if batch.impossible]
    traces = [_diagonal(low), *(_marks(group, slot) for slot, group in enumerate(groups))]
    if wrong:
        traces.append(_scatter(wrong, "below its bound: impossible", "var(--alarm)", "x", 12))
    caption = "A mark is a batch. On the line, no more came than is guaranteed; below it nothing can be."
    left_out = len(batches) - sum(len(_nearest(group.batches)) for group in groups)
    if left_out:
        caption += f" {left_out:,} batches far above their bound are not drawn."
    alarm = ""
    if wrong:
        alarm = f"{len(wrong):,} of {len(batches):,} batches were realised below their bound, which is impossible."
    return Chart(
        key="bound-realised",
        title="Realised against guaranteed",
        caption=caption,
        figure=figure(
            traces,
            x=axis("guaranteed by Theorem 4.4 (% of the best welfare)", range=[low, 101]),
            y=axis("realised (%)", range=[low, 101]),
        )
        if len(batches) > 1
        else None,
        missing="One batch: its numbers stand above.",
        height=420,
        alarm=alarm,
    )


def over_batches(groups: Sequence[KappaGroup]) -> tuple[Chart, ...]:
    """Bounds and realised share over the batches of the first trial, a chart a schedule."""
    return tuple(_course(group, f"course-{slot}") for slot, group in enumerate(groups) if len(group.batches) > 1)


def _course(group: KappaGroup, key: str) -> Chart:
    first = [each for each in group.batches if each.found.priced.trial == group.batches[0].found.priced.trial]
    step = -(-len(first) // POINTS)
    drawn = first[::step]
    numbers = [each.found.priced.batch for each in drawn]
    lines = (
        ("realised", [float(each.found.bound.ratio) for each in drawn], "var(--s2)", "solid"),
        ("guaranteed pair by pair", [each.pair_bound for each in drawn], "var(--s5)", "dash"),
        ("guaranteed by κ", [float(each.found.bound.bound) for each in drawn], "var(--s0)", "dot"),
    )
    traces = [
        go.Scatter(
            x=numbers,
            y=[100 * share for share in shares],
            mode="lines" if len(numbers) > 1 else "markers",
            name=name,
            line={"color": color, "dash": dash, "width": 2},
            marker={"color": color},
            hovertemplate=f"batch %{{x}}: %{{y:.2f}} %<extra>{name}</extra>",
        )
        for name, shares, color, dash in lines
    ]
    thinned = f" One batch in {step} is drawn." if step > 1 else ""
    return Chart(
        key=key,
        title=f"{group.schedule}: batch by batch",
        caption=f"The first trial. What lies between two lines is slack.{thinned}",
        figure=figure(traces, x=axis("batch"), y=axis("% of the best welfare", range=[0, 103])),
    )


def _diagonal(low: float) -> go.Scatter:
    return go.Scatter(
        x=[low, 100],
        y=[low, 100],
        mode="lines",
        name="realised = guaranteed",
        line={"color": "var(--muted)", "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def _marks(group: KappaGroup, slot: int) -> go.Scatter:
    possible = [batch for batch in _nearest(group.batches) if not batch.impossible]
    name = group.schedule or "the batch"
    return _scatter(possible, name, f"var(--s{slot % COLORS})", _SYMBOLS[slot % len(_SYMBOLS)], 8)


def _nearest(batches: Sequence[KappaDetails]) -> Sequence[KappaDetails]:
    """At most `POINTS` batches, those with the least slack."""
    if len(batches) <= POINTS:
        return batches
    return sorted(batches, key=lambda each: float(each.found.bound.ratio - each.found.bound.bound))[:POINTS]


def _scatter(batches: Sequence[KappaDetails], name: str, color: str, symbol: str, size: int) -> go.Scatter:
    told: list[Any] = [
        f"{batch_name(each)}, {len(each.found.priced):,} request{'s' * (len(each.found.priced) != 1)}"
        for each in batches
    ]
    return go.Scatter(
        x=[100 * float(each.found.bound.bound) for each in batches],
        y=[100 * float(each.found.bound.ratio) for each in batches],
        mode="markers",
        name=plain(name),
        marker={"color": color, "symbol": symbol, "size": size, "opacity": 0.75},
        text=told,
        hovertemplate=f"%{{text}}<br>guaranteed %{{x:.2f}} %<br>realised %{{y:.2f}} %<extra>{plain(name)}</extra>",
    )

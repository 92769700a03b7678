"""How much lying pays: gains by kind of lie, one colour a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from sim.audit_report import KIND_NAMES, MechanismReport
from sim.audit_words import count_of, mechanism_name

__all__ = ["gains", "welfare_costs"]


def gains(mechanisms: Sequence[MechanismReport]) -> Chart:
    """The gain of those who can gain, as a share of what their requests are worth: the median, and the largest."""
    bars = []
    for place, found in enumerate(mechanisms):
        medians = [100 * float(np.median(kind.shares)) if kind.shares else 0.0 for kind in found.kinds]
        largest = [100 * max(kind.shares, default=0.0) for kind in found.kinds]
        shown = [
            f"{count_of(kind)} can gain; median {m:.3g} %, largest {top:.3g} %"
            for kind, m, top in zip(found.kinds, medians, largest, strict=True)
        ]
        beyond = [top - m for top, m in zip(largest, medians, strict=True)]
        bars.append(
            go.Bar(
                x=[KIND_NAMES[kind.kind] for kind in found.kinds],
                y=medians,
                name=plain(mechanism_name(found)),
                marker={"color": f"var(--s{place % 8})", "line": {"width": 0}},
                error_y={"type": "data", "symmetric": False, "array": beyond, "color": "var(--muted)", "width": 3},
                customdata=shown,
                hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
            )
        )
    return Chart(
        key="gains",
        title="What liars gain",
        caption="As a share of what the liars' requests are worth, of those who can gain: the gain over the truth; for "
        "names and text, what they add to the better of the truth and the same bids told plainly. Bars are medians, "
        "whiskers reach to the largest found. No bar: nothing was found that pays.",
        figure=figure(bars, x=axis(""), y=axis("% of worth", rangemode="tozero"), barmode="group"),
    )


def welfare_costs(mechanisms: Sequence[MechanismReport]) -> Chart:
    """What the lies do to welfare, each a point."""
    points = []
    for place, found in enumerate(mechanisms):
        pairs = [
            (100 * share, 100 * change, KIND_NAMES[kind.kind])
            for kind in found.kinds
            for share, change in zip(kind.shares, kind.welfare_changes, strict=True)
        ]
        if pairs:
            share, change, name = zip(*pairs, strict=True)
            points.append(
                go.Scatter(
                    x=share,
                    y=change,
                    text=name,
                    mode="markers",
                    name=plain(mechanism_name(found)),
                    marker={"color": f"var(--s{place % 8})", "size": 8, "opacity": 0.75},
                    hovertemplate="%{text}: gains %{x:.3g} %, welfare %{y:+.3g} %<extra>%{fullData.name}</extra>",
                )
            )
    return Chart(
        key="welfare",
        title="What it costs everybody",
        caption="Each point is the best lie found for one user or pair: what counts of its gain, and what it does to "
        "welfare.",
        figure=figure(points, x=axis("gain, % of worth"), y=axis("welfare, % of truthful")) if points else None,
        missing="No lie was found that pays.",
    )

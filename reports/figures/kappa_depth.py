"""How unevenly siblings are paced, by the length of the prefix they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from mechanism.prompts import FloatArray
from reports.chart import Chart, axis, figure
from sim.kappa_report import KappaGroup

__all__ = ["by_depth"]

_EDGES = (1.0, 1.1, 1.5, 2.0, 5.0)
_NAMES = ("κ = 1", "κ ≤ 1.1", "κ ≤ 1.5", "κ ≤ 2", "κ ≤ 5", "κ > 5", "κ infinite")
_COLORS = (*(f"var(--q{step})" for step in range(6)), "var(--warning)")
_EVEN = 1 + 1e-9  # a κ nearer to 1 is rounding


def by_depth(groups: Sequence[KappaGroup]) -> tuple[Chart, ...]:
    """Two histograms of κ by depth: of nodes, and of the welfare that is decided at them."""
    batches = [each.found for group in groups for each in group.batches]
    if not any(len(each.bound.node) for each in batches):
        missing = "No node has two children."
        return (Chart(key="depth-nodes", title="Nodes by depth and κ", missing=missing),)
    depth = np.concatenate([each.depth_tokens for each in batches])
    kappa = np.concatenate([each.bound.kappa for each in batches])
    weight = np.concatenate([each.weight * each.best_welfare for each in batches])
    total = weight.sum() or 1.0
    return (
        _histogram("depth-nodes", "Nodes by depth and κ", "nodes", depth, kappa, np.ones(len(depth))),
        _histogram(
            "depth-welfare",
            "Welfare decided there, by depth and κ",
            "% of the best welfare",
            depth,
            kappa,
            100 * (weight / total),
        ),
    )


def _histogram(key: str, title: str, unit: str, depth: FloatArray, kappa: FloatArray, weight: FloatArray) -> Chart:
    bins = np.where(depth > 0, np.frexp(np.maximum(depth, 1))[1], 0)  # 0, 1, 2–3, 4–7, …
    used = np.unique(bins)
    labels = [_bin_name(int(each)) for each in used]
    kinds = np.searchsorted(np.array([_EVEN, *_EDGES[1:]]), kappa, side="left")
    kinds[np.isinf(kappa)] = len(_NAMES) - 1
    bars = [
        go.Bar(
            x=labels,
            y=[float(weight[(bins == each) & (kinds == kind)].sum()) for each in used],
            name=name,
            marker={"color": color, "line": {"color": "var(--muted)", "width": 0.5}},
            hovertemplate=f"%{{x}} shared tokens, {name}: %{{y:,.4~g}} {unit.split(' of')[0]}<extra></extra>",
        )
        for kind, (name, color) in enumerate(zip(_NAMES, _COLORS, strict=True))
        if (kinds == kind).any()
    ]
    drawn = figure(
        bars,
        x=axis("shared prefix (tokens)", type="category"),
        y=axis(unit, rangemode="tozero"),
        barmode="stack",
        bargap=0.25,
    )
    drawn.update_layout(legend_traceorder="normal")
    return Chart(key=key, title=title, figure=drawn)


def _bin_name(number: int) -> str:
    if number < 2:
        return str(number)
    return f"{2 ** (number - 1):,}–{2**number - 1:,}"

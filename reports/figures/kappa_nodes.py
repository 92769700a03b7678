"""The nodes of one batch: which matter most, how unevenly they are paced, how much of the possible loss came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure
from sim.kappa_details import KappaDetails
from sim.kappa_tree import KappaNode
from sim.kappa_words import node_name, percent, prefix_name

__all__ = ["slack", "tree"]

#: Steps of the colour scale; `templates/palette.css` gives each its colour in light and in dark.
STEPS = 6
_LARGEST = 46  # px of the node with the largest Ω
_BARS = 10
_LABELS = 5


def tree(nodes: Sequence[KappaNode], key: str = "kappa-tree") -> Chart:
    """The tree of the nodes that matter: size Ω, colour κ, what matters most on top."""
    title = "The prompt tree, where siblings compete"
    if not nodes:
        return Chart(key=key, title=title, missing="No node has two children: nobody competes.")
    heights = _heights(nodes)
    hidden = sum(node.hidden for node in nodes)
    caption = (
        "A circle is a node; its area is its share of the best welfare (Ω), its colour how unevenly its children are"
        " paced (κ). Left to right: longer shared prefixes. Top to bottom: what matters most first, labelled with κ and"
        " with how much of the best welfare may be lost there."
    )
    if hidden:
        caption += f" {hidden:,} more nodes, which matter less, are not drawn."
    leaves = len({height for height in heights if height == int(height)})
    return Chart(
        key=key,
        title=title,
        caption=caption,
        figure=figure(
            [_edges(nodes, heights), *_circles(nodes, heights)],
            x={"visible": False, "range": [-0.35, max(node.level for node in nodes) + 0.9]},
            y={"visible": False, "range": [max(heights) + 0.9, -1.1]},
            legend=any(math.isinf(node.kappa) for node in nodes),
            margin={"l": 8, "r": 8, "t": 34, "b": 62},
        ),
        height=max(340, min(1100, 120 + 17 * leaves)),
    )


def slack(shown: KappaDetails, key: str = "slack") -> Chart:
    """At every node that matters: what is lost, what pairs might still lose, what only κ reckons with."""
    found = shown.found
    ranked = sorted(range(len(found.allowed)), key=lambda place: -float(found.allowed[place]))
    worst = [place for place in ranked[:_BARS] if found.allowed[place] > 0]
    names = [node_name(place, int(found.depth_tokens[place])) for place in worst]
    lost = [float(found.lost[place]) for place in worst]
    pairs = [float(shown.allowed_by_pairs[place]) for place in worst]
    allowed = [float(found.allowed[place]) for place in worst]
    rest = len(ranked) - len(worst)
    if rest and worst:
        names.append(f"the other {rest:,}")
        lost.append(float(found.lost.sum()) - sum(lost))
        pairs.append(float(shown.allowed_by_pairs.sum()) - sum(pairs))
        allowed.append(float(found.allowed.sum()) - sum(allowed))
    parts = (
        ("lost", lost, "var(--s1)"),
        ("not lost, though some pair might have", _gaps(pairs, lost), "var(--q4)"),
        ("reckoned with by κ alone", _gaps(allowed, pairs), "var(--q1)"),
    )
    bars = [
        go.Bar(
            y=names,
            x=[100 * share for share in shares],
            orientation="h",
            name=name,
            marker={"color": color, "line": {"width": 0}},
            hovertemplate=f"%{{y}}: %{{x:.3g}} % of the best welfare<extra>{name}</extra>",
        )
        for name, shares, color in parts
    ]
    drawn = figure(
        bars,
        x=axis("% of the best welfare"),
        y={"autorange": "reversed", "automargin": True, "ticks": "", "gridcolor": "var(--grid)"},
        barmode="stack",
        bargap=0.35,
    )
    drawn.update_layout(legend_traceorder="normal")
    return Chart(
        key=key,
        title="Where the possible loss sits, and where the slack is",
        caption="Each bar is the loss Theorem 4.4 allows at a node. κ lets the two most different children stand for"
        " all pairs; the pair bound (ours) takes each pair of siblings by itself, and only if the one worth less is"
        " paced less.",
        figure=drawn if worst else None,
        missing="Siblings are paced alike everywhere: nothing can be lost.",
        height=130 + 30 * len(names),
    )


def _gaps(larger: Sequence[float], smaller: Sequence[float]) -> list[float]:
    return [max(a - b, 0.0) for a, b in zip(larger, smaller, strict=True)]


def _heights(nodes: Sequence[KappaNode]) -> list[float]:
    """Leaves one below the other, every other node in the middle of its children."""
    children: dict[int, list[int]] = {place: [] for place in range(len(nodes))}
    for place, node in enumerate(nodes):
        if node.parent is not None:
            children[node.parent].append(place)
    heights, next_leaf = [0.0] * len(nodes), 0
    for place in range(len(nodes)):
        if not children[place]:
            heights[place], next_leaf = float(next_leaf), next_leaf + 1
    for place in range(len(nodes) - 1, -1, -1):
        if children[place]:
            heights[place] = (heights[children[place][0]] + heights[children[place][-1]]) / 2
    return heights


def _edges(nodes: Sequence[KappaNode], heights: Sequence[float]) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for node, height in zip(nodes, heights, strict=True):
        if node.parent is not None:
            up = nodes[node.parent].level
            x += [up, up + 0.5, up + 0.5, node.level, None]
            y += [heights[node.parent], heights[node.parent], height, height, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": "var(--line)", "width": 1}, hoverinfo="skip", showlegend=False
    )


def _circles(nodes: Sequence[KappaNode], heights: Sequence[float]) -> list[go.Scatter]:
    finite = [place for place, node in enumerate(nodes) if math.isfinite(node.kappa)]
    infinite = [place for place, node in enumerate(nodes) if math.isinf(node.kappa)]
    most = sorted(range(len(nodes)), key=lambda place: -nodes[place].allowed)[:_LABELS]
    kappas = [nodes[place].kappa for place in finite]
    traces = []
    if finite:
        colors = _colors(kappas)
        traces.append(_trace(nodes, heights, finite, most, "κ", "circle", colors))
    if infinite:
        traces.append(
            _trace(
                nodes, heights, infinite, most, "κ infinite: nothing guaranteed", "diamond", {"color": "var(--warning)"}
            )
        )
    return traces


def _trace(
    nodes: Sequence[KappaNode],
    heights: Sequence[float],
    places: Sequence[int],
    labelled: Sequence[int],
    name: str,
    symbol: str,
    colors: dict[str, Any],
) -> go.Scatter:
    largest = max(node.weight for node in nodes) or 1.0
    drawn = [nodes[place] for place in places]
    return go.Scatter(
        x=[node.level for node in drawn],
        y=[heights[place] for place in places],
        mode="markers+text",
        name=name,
        showlegend=symbol != "circle",
        text=[_label(nodes[place]) if place in labelled and nodes[place].allowed > 0 else "" for place in places],
        textposition=["top right" if node.level == 0 else "top center" for node in drawn],
        textfont={"size": 12},
        cliponaxis=False,
        marker={
            "size": [7 + (_LARGEST - 7) * math.sqrt(node.weight / largest) for node in drawn],
            "symbol": symbol,
            "opacity": 1,
            "line": {"color": "var(--muted)", "width": 1},
            **colors,
        },
        customdata=[_told(node) for node in drawn],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _label(node: KappaNode) -> str:
    kappa = "∞" if math.isinf(node.kappa) else f"{node.kappa:.3g}"
    return f"κ {kappa}, {percent(node.allowed)}"


def _told(node: KappaNode) -> str:
    kappa = "infinite: nothing is guaranteed" if math.isinf(node.kappa) else f"{node.kappa:.4g}"
    return "<br>".join(
        [
            f"<b>{node_name(node.place, node.depth_tokens)}</b>: {prefix_name(node.depth_tokens)}",
            f"{node.num_requests:,} requests in {node.num_children:,} branches",
            f"κ: {kappa}",
            f"share of the best welfare: {percent(node.weight)}",
            f"may be lost: {percent(node.allowed)}",
            f"is lost: {percent(node.lost)}",
        ]
    )


def _colors(kappas: Sequence[float]) -> dict[str, Any]:
    """Colour by log κ, from 1 up."""
    top = max(max(kappas), 1.0)
    spread = math.log10(top)
    ticks = [1.0, math.sqrt(top), top] if spread > 1e-9 else [1.0]
    return {
        "color": [math.log10(kappa) for kappa in kappas],
        "colorscale": [[step / (STEPS - 1), f"var(--q{step})"] for step in range(STEPS)],
        "cmin": -1e-3,
        "cmax": spread if spread > 1e-9 else 1.0,
        "showscale": spread > 1e-9,
        "colorbar": {
            "title": {"text": "κ", "side": "top", "font": {"size": 13}},
            "orientation": "h",
            "x": 0.02,
            "xanchor": "left",
            "y": -0.02,
            "yanchor": "top",
            "len": 0.6,
            "tickvals": [math.log10(tick) for tick in ticks],
            "ticktext": [f"{tick:.3g}" for tick in ticks],
            "thickness": 10,
            "outlinewidth": 0,
            "ticklabeloverflow": "allow",
        },
    }

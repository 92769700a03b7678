"""The first levels of the prompt tree, with average bids: what the auction orders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, figure
from reports.load import Run
from reports.series import finite
from reports.text import number

__all__ = ["first_levels"]

#: Steps of the colour scale; `templates/page.css` gives each its colour in light and in dark.
STEPS = 6


def first_levels(runs: Sequence[Run]) -> tuple[Chart, ...]:
    """One icicle a run: width = requests below a node, colour = average bid, top to bottom = order of service."""
    return tuple(_icicle(run, f"tree-{position}") for position, run in enumerate(runs))


def _icicle(run: Run, key: str) -> Chart:
    title = f"{run.label}: first batch of the first trial" if run.label else "First batch of the first trial"
    nodes: list[Mapping[str, Any]] = list((run.tree or {}).get("nodes", []))
    if not nodes:
        return Chart(key=key, title=title, missing="The run has no tree.json: its prompts were not recorded.")
    bids = [finite(node.get("average_bid")) for node in nodes]
    trace = go.Icicle(
        ids=[str(node["id"]) for node in nodes],
        parents=["" if node["parent"] is None else str(node["parent"]) for node in nodes],
        values=[node["requests"] for node in nodes],
        branchvalues="total",
        sort=False,
        labels=[_label(node) for node in nodes],
        text=[f"average bid {number(bid, 2)}" for bid in bids],
        texttemplate="%{label} · %{text}",
        customdata=[_told(node) for node in nodes],
        hovertemplate="%{customdata}<extra></extra>",
        marker={**_colors(bids), "line": {"color": "var(--card)", "width": 0.5}},
        tiling={"orientation": "h"},
        pathbar={"visible": False},
        root={"color": "var(--grid)"},
    )
    note = str((run.tree or {}).get("note", ""))
    return Chart(
        key=key,
        title=title,
        caption="Left to right: longer shared prefixes. Height: requests below. Top to bottom among siblings: the order"
        " of average bids, which is the order dfs-bid serves them in; small ones are summed and come last."
        f" Click a node to open it. {note}",
        figure=figure(
            [trace],
            x={},
            y={},
            legend=False,
            margin={"l": 4, "r": 4, "t": 8, "b": 60},
            uniformtext={"minsize": 10, "mode": "hide"},
        ),
        height=500,
    )


def _label(node: Mapping[str, Any]) -> str:
    requests = f"{node['requests']:,} request{'s' if node['requests'] != 1 else ''}"
    if node.get("merged"):
        return f"{node['merged']:,} more subtree{'s' if node['merged'] != 1 else ''}, {requests}"
    return requests


def _told(node: Mapping[str, Any]) -> str:
    depth = finite(node.get("depth_tokens"))
    lines = [
        f"<b>{_label(node)}</b>",
        f"average bid: {number(finite(node.get('average_bid')))}",
        f"average value: {number(finite(node.get('average_value')))}",
    ]
    if depth is not None:
        lines.append(f"shared prefix: {depth:,.0f} tokens")
    return "<br>".join(lines)


def _colors(bids: Sequence[float | None]) -> dict[str, Any]:
    """Colour by the logarithm of the average bid: bids have long tails. Zero takes the lowest colour."""
    positive = [bid for bid in bids if bid]
    low, high = (min(positive), max(positive)) if positive else (1.0, 1.0)
    spread = math.log10(high / low)
    ticks = [low, math.sqrt(low * high), high] if spread > 0 else [low]
    return {
        "colors": [math.log10(max(bid or low, low)) for bid in bids],
        "colorscale": [[step / (STEPS - 1), f"var(--q{step})"] for step in range(STEPS)],
        # a hair below, or the tick of the lowest bid falls off the bar
        "cmin": math.log10(low) - 1e-3,
        "cmax": math.log10(high) if spread > 0 else math.log10(low) + 1,
        "showscale": spread > 0,
        "colorbar": {
            "title": {"text": "average bid", "side": "top", "font": {"size": 13}},
            "orientation": "h",
            "x": 0.02,
            "xanchor": "left",
            "y": -0.02,
            "yanchor": "top",
            "len": 0.6,
            "tickvals": [math.log10(tick) for tick in ticks],
            # nodes that bid nothing share the colour of the lowest bid
            "ticktext": [
                "≤ " * (step == 0 and len(positive) < len(bids)) + number(tick) for step, tick in enumerate(ticks)
            ],
            "thickness": 10,
            "outlinewidth": 0,
            "ticklabeloverflow": "allow",
        },
    }

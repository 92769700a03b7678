"""Two axes at once: who wins, each contender's metric, and its paired difference to the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.compare_look import Look, Shown, key_of
from reports.compare_slices import Slices
from reports.figures.sweep_lines import value_at
from reports.text import number
from sim.compare import Comparison
from sim.compare_stats import Interval, interval_of

__all__ = ["heat_map", "winner_map"]

#: Cells that are small enough in number to be written into.
_WRITTEN = 100
_SEQUENTIAL = [[step / 5, f"var(--q{step})"] for step in range(6)]
_DIVERGING = [[0.0, "var(--s1)"], [0.5, "var(--card)"], [1.0, "var(--s0)"]]

Grid = list[list[Interval]]
Pair = tuple[int, int]


def heat_map(
    comparison: Comparison,
    pair: Pair,
    cut: Slices,
    look: Look,
    shown: Shown,
    *,
    span: tuple[float, float],
    difference: bool = False,
) -> Chart:
    """One contender's metric over two axes, or its difference, coloured within `span` (in the records' unit)."""
    grid = _grid(comparison, pair, cut, look.name, shown.name, difference=difference)
    unit = shown.difference if difference else shown.unit
    name = f"{look.name} − {comparison.baseline}" if difference else look.name
    texts = [[_written(found, unit.scale, signed=unit.signed, difference=difference) for found in row] for row in grid]
    heat = _heat(
        comparison,
        pair,
        [[None if found.mean is None else found.mean * unit.scale for found in row] for row in grid],
        texts,
        [[_told(shown, found, difference=difference) for found in row] for row in grid],
        colorscale=_DIVERGING if difference else _SEQUENTIAL,
        zmin=span[0] * unit.scale,
        zmax=span[1] * unit.scale,
        colorbar={"thickness": 12, "outlinewidth": 0, "title": {"text": unit.name, "side": "right"}},
    )
    return Chart(
        key=key_of("difference" if difference else "level", *_keys(comparison, pair), shown.name, look.name, look.slot),
        title=f"{name}: {shown.title}{shown.arrow}",
        caption=_caption(cut, difference=difference),
        figure=_drawn(comparison, pair, grid, [heat]),
        height=_height(comparison, pair),
    )


def winner_map(comparison: Comparison, pair: Pair, cut: Slices, looks: Sequence[Look], shown: Shown) -> Chart:
    """Who has the highest welfare, in its colour; a ~ where the lead over the next can be chance."""
    grids = [_grid(comparison, pair, cut, look.name, shown.name, difference=False) for look in looks]
    best: list[list[int | None]] = []
    texts: list[list[str]] = []
    for y in range(len(grids[0])):
        best.append([])
        texts.append([])
        for x in range(len(grids[0][0])):
            known = [(slot, grid[y][x].mean) for slot, grid in enumerate(grids)]
            ranked = sorted(((slot, mean) for slot, mean in known if mean is not None), key=lambda each: -each[1])
            best[-1].append(ranked[0][0] if ranked else None)
            texts[-1].append(_lead(comparison, pair, cut, looks, shown, ranked, (x, y)) if len(ranked) > 1 else "")
    steps = len(looks)
    scale = [[(slot + end) / steps, look.css] for slot, look in enumerate(looks) for end in (0, 1)]
    told = [["" if slot is None else looks[slot].name for slot in row] for row in best]
    heat = _heat(comparison, pair, best, texts, told, colorscale=scale, zmin=-0.5, zmax=steps - 0.5, showscale=False)
    keys = [
        _key(look) for look in looks if any(slot is not None and looks[slot] is look for row in best for slot in row)
    ]
    return Chart(
        key=key_of("winner", *_keys(comparison, pair)),
        title=f"Who wins: the highest {shown.title[:1].lower()}{shown.title[1:]}",
        caption=f"~ = the lead over the next can be chance. {_caption(cut, difference=False)}",
        figure=_drawn(comparison, pair, grids[0], [heat, *keys]),
        height=_height(comparison, pair),
    )


def _keys(comparison: Comparison, pair: Pair) -> tuple[str, str]:
    return comparison.axes[pair[0]].key, comparison.axes[pair[1]].key


def _grid(comparison: Comparison, pair: Pair, cut: Slices, contender: str, metric: str, *, difference: bool) -> Grid:
    """Rows over the second axis, columns over the first."""
    across, up = (comparison.axes[place].words for place in pair)
    return [
        [value_at(comparison, cut.at.get((x, y), ()), contender, metric, difference=difference) for x in across]
        for y in up
    ]


def _heat(
    comparison: Comparison, pair: Pair, z: Any, texts: list[list[str]], told: list[list[str]], **look: Any
) -> go.Heatmap:
    across, up = (comparison.axes[place] for place in pair)
    return go.Heatmap(
        x=list(range(len(across.words))),
        y=list(range(len(up.words))),
        z=z,
        text=texts if len(across.words) * len(up.words) <= _WRITTEN else None,
        texttemplate="%{text}" if len(across.words) * len(up.words) <= _WRITTEN else None,
        hovertext=told,
        xgap=2,
        ygap=2,
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        **look,
    )


def _drawn(comparison: Comparison, pair: Pair, grid: Grid, traces: list[Any]) -> go.Figure:
    """The figure, with a cross where a cell is missing."""
    across, up = (comparison.axes[place] for place in pair)
    holes = [(x, y) for y, row in enumerate(grid) for x, found in enumerate(row) if found.mean is None]
    if holes:
        traces = [*traces, _holes(holes)]
    return figure(
        traces,
        x=axis(plain(across.key), **_ticks(across.words)),
        y=axis(plain(up.key), **_ticks(up.words)),
        legend=any(getattr(trace, "showlegend", None) for trace in traces),
    )


def _holes(holes: Sequence[tuple[int, int]]) -> go.Scatter:
    return go.Scatter(
        x=[x for x, _ in holes],
        y=[y for _, y in holes],
        mode="markers",
        name="missing",
        marker={"symbol": "x-thin", "size": 12, "line": {"color": "var(--alarm)", "width": 2}},
        hovertemplate="no result<extra></extra>",
        showlegend=True,
    )


def _key(look: Look) -> go.Scatter:
    """A contender's entry in the legend."""
    marker = {"color": look.css, "symbol": "square", "size": 12}
    return go.Scatter(x=[None], y=[None], mode="markers", name=look.label, marker=marker, showlegend=True)


def _ticks(words: Sequence[str]) -> dict[str, Any]:
    step = -(-len(words) // 16)
    places = list(range(0, len(words), step))
    ends = [-0.5, len(words) - 0.5]
    texts = [plain(words[place]) for place in places]
    return {"tickmode": "array", "tickvals": places, "ticktext": texts, "range": ends, "showgrid": False}


def _lead(
    comparison: Comparison,
    pair: Pair,
    cut: Slices,
    looks: Sequence[Look],
    shown: Shown,
    ranked: Sequence[tuple[int, float]],
    at: tuple[int, int],
) -> str:
    """~ where the winner's paired lead over the next cannot be told from chance."""
    key = (comparison.axes[pair[0]].words[at[0]], comparison.axes[pair[1]].words[at[1]])
    first, second = (looks[slot].name for slot, _ in ranked[:2])
    lead = interval_of(comparison.against(second).mean_differences(cut.at.get(key, ()), first, shown.name))
    return "" if lead.told else "~"


def _told(shown: Shown, found: Interval, *, difference: bool) -> str:
    return "no result" if found.mean is None else f"{shown.text(found, difference=difference)}, n = {found.n}"


def _written(found: Interval, scale: float, *, signed: bool, difference: bool) -> str:
    if found.mean is None:
        return ""
    value = found.mean * scale
    text = number(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 1 else 2, signed=signed)
    return f"({text})" if difference and not found.told else text


def _caption(cut: Slices, *, difference: bool) -> str:
    words = ["In brackets: no difference can be told, the interval contains 0." if difference else "", cut.note]
    return " ".join(word for word in words if word)


def _height(comparison: Comparison, pair: Pair) -> int:
    return min(560, 150 + max(26 * len(comparison.axes[pair[1]].words), 120))

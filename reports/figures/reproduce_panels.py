"""What the paper plots, drawn for every setting of the engine: welfare, hit rate and TTFT of the four schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.series import DASHES, SYMBOLS
from sim.reproduce.record import METRICS
from sim.reproduce.words import interval_words

__all__ = ["panel_charts", "row_title"]

Json = Mapping[str, Any]


def row_title(metric: str, panel: Json) -> str:
    """The heading of a row of charts."""
    return f"{METRICS[metric][0]} over {panel['title']}"


def panel_charts(record: Json, panel: Json, metric: str) -> tuple[Chart, ...]:
    """One metric over one panel: a chart for every setting, all on one scale."""
    title, unit, scale = METRICS[metric]
    names = [s["name"] for s in record["settings"] if s["name"] in panel["points"][0]["cells"]]
    limits = _limits([found for name in names for found in _every(panel, name, metric)], scale)
    charts = []
    for name in names:
        schedules = panel["points"][0]["cells"][name]["schedules"]
        traces = [_trace(panel, name, metric, place, label) for place, label in enumerate(schedules)]
        categories = {"type": "category", "tickangle": 0} if panel["points"][0]["x"] is None else {}
        ticks = {
            "type": "log" if panel["logarithmic"] else "linear",
            "tickmode": "array",
            "tickvals": [point["x"] for point in panel["points"]],
            "ticktext": [f"{point['x']:,g}" for point in panel["points"] if point["x"] is not None],
        }
        charts.append(
            Chart(
                key=f"{panel['key']}-{metric}-{name}",
                title=name,
                figure=figure(
                    traces,
                    x=axis(panel["axis"], **(categories or ticks)),
                    y=axis(f"{title} ({unit})", range=limits, zeroline=True),
                    barmode="group",
                ),
                height=330,
            )
        )
    return tuple(charts)


def _trace(panel: Json, name: str, metric: str, place: int, label: str) -> Any:
    _, unit, scale = METRICS[metric]
    points = [(point, point["cells"][name]["schedules"][label][metric]) for point in panel["points"]]
    points = [(point, found) for point, found in points if found["mean"] is not None]
    color = f"var(--s{place})"
    bars = {
        "type": "data",
        "array": [0.0 if found["high"] is None else (found["high"] - found["mean"]) * scale for _, found in points],
        "color": color if points and points[0][0]["x"] is not None else "var(--ink)",
        "thickness": 1.3,
        "width": 3,
    }
    common: dict[str, Any] = {
        "y": [found["mean"] * scale for _, found in points],
        "name": plain(label),
        "error_y": bars,
        "hovertext": [plain(f"{point['label']}: {interval_words(found, unit, scale)}") for point, found in points],
        "hovertemplate": "%{hovertext}<extra>%{fullData.name}</extra>",
    }
    if points and points[0][0]["x"] is None:
        names = [plain(point["label"]).replace(" ", "<br>") for point, _ in points]
        return go.Bar(x=names, marker={"color": color}, **common)
    return go.Scatter(
        x=[point["x"] for point, _ in points],
        mode="lines+markers",
        line={"color": color, "dash": DASHES[place], "width": 2},
        marker={"color": color, "symbol": SYMBOLS[place], "size": 7},
        **common,
    )


def _every(panel: Json, name: str, metric: str) -> Iterator[Json]:
    for point in panel["points"]:
        yield from (schedule[metric] for schedule in point["cells"][name]["schedules"].values())


def _limits(found: Sequence[Json], scale: float) -> list[float] | None:
    """One scale for all settings: all means, and of their intervals what leaves the means readable."""
    means = [each["mean"] * scale for each in found if each["mean"] is not None]
    if not means:
        return None
    room = max(max(means) - min(means), 0.05 * max(map(abs, means)), 1e-9)
    lows = [each["low"] * scale for each in found if each["low"] is not None]
    highs = [each["high"] * scale for each in found if each["high"] is not None]
    low = max(min([*lows, *means]), min(means) - room)
    high = min(max([*highs, *means]), max(means) + room)
    return [min(0.0, low) - (0.05 * room if low < 0 else 0.0), high + 0.08 * room]

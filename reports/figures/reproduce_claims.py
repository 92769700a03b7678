"""A claim of the paper as a picture: the range that agrees with it, and what each setting of the engine gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from sim.reproduce.words import found_words

__all__ = ["SETTING_LOOKS", "claim_charts"]

Json = Mapping[str, Any]

#: Colour and symbol of the settings, in their order; told apart from those of schedules by symbol and place.
SETTING_LOOKS = (("var(--s4)", "circle"), ("var(--s3)", "diamond"), ("var(--s6)", "square"))
_PAPER = "var(--q1)"
_HALF, _STEP = 0.36, 0.18


def claim_charts(record: Json) -> tuple[Chart, ...]:
    """A figure for every claim with a range, and one for each unit where its numbers have several."""
    names = [setting["name"] for setting in record["settings"]]
    charts = []
    for claim in record["claims"]:
        for unit in dict.fromkeys(part["unit"] for part in claim["parts"]):
            parts = [part for part in claim["parts"] if part["unit"] == unit]
            charts.append(_chart(claim, unit, parts, names))
    return tuple(charts)


def _chart(claim: Json, unit: str, parts: Sequence[Json], names: Sequence[str]) -> Chart:
    shown = names if claim["engine"] else ["no engine in it"]
    keys = names if claim["engine"] else names[:1]
    traces = [_ours(name, key, parts, place, unit) for place, (name, key) in enumerate(zip(shown, keys, strict=True))]
    legend = go.Scatter(
        x=[None], y=[None], mode="markers", name="the paper", marker={"color": _PAPER, "symbol": "square", "size": 12}
    )
    ticks = {"tickmode": "array", "tickvals": list(range(len(parts))), "ticktext": [_tick(part) for part in parts]}
    whole = figure(
        [legend, *traces],
        x=axis("", range=[-0.6, len(parts) - 0.4], showgrid=False, **ticks),
        y=axis({"%": "%", "pp": "percentage points", "×": "ratio"}.get(unit, ""), zeroline=True),
        shapes=[shape for place, part in enumerate(parts) for shape in _stated(place, part["range"])],
        annotations=[_words(place, part) for place, part in enumerate(parts)],
    )
    marks = "Marks are means over seeds with 95 % intervals" if any(_has_interval(p) for p in parts) else "Marks: worst"
    return Chart(
        key=f"claim-{claim['key']}-{'-'.join(f'{ord(letter):x}' for letter in unit) or 'plain'}",
        title=claim["text"],
        caption=f"{marks}; shaded, or beyond a line in the direction of its mark, is what agrees with the paper "
        f"({claim['source']}).",
        figure=whole,
        height=330,
    )


def _ours(name: str, key: str, parts: Sequence[Json], place: int, unit: str) -> go.Scatter:
    found = [part["settings"][key] for part in parts]
    color, symbol = SETTING_LOOKS[place]
    halves = [0.0 if each["high"] is None else each["high"] - each["mean"] for each in found]
    told = [plain(f"{part['label']}: {found_words(each, unit)}") for part, each in zip(parts, found, strict=True)]
    return go.Scatter(
        x=[column + (place - 1) * _STEP for column in range(len(parts))],
        y=[each["mean"] for each in found],
        mode="markers",
        name=plain(name),
        marker={"color": color, "symbol": symbol, "size": 9},
        error_y={"type": "data", "array": halves, "color": color, "thickness": 1.6, "width": 4},
        text=told,
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _stated(place: int, within: Json) -> list[dict[str, Any]]:
    """A box over a part's column; a line where one end is open."""
    ends = {"x0": place - _HALF, "x1": place + _HALF, "layer": "below"}
    low, high = within["low"], within["high"]
    if low is None or high is None or low == high:
        at = high if low is None else low
        return [{"type": "line", "y0": at, "y1": at, "line": {"color": "var(--q3)", "width": 4}, **ends}]
    return [{"type": "rect", "y0": low, "y1": high, "fillcolor": _PAPER, "line": {"width": 0}, **ends}]


def _words(place: int, part: Json) -> dict[str, Any]:
    """What the paper says, beside its range."""
    within = part["range"]
    above = within["low"] is None
    return {
        "x": place,
        "y": within["high"] if within["high"] is not None else within["low"],
        "text": plain(f"{'▼ ' if above else '▲ ' if within['high'] is None else ''}{part['stated']}"),
        "showarrow": False,
        "yanchor": "top" if above else "bottom",
        "font": {"size": 11, "color": "var(--muted)"},
    }


def _tick(part: Json) -> str:
    label = str(part["label"])
    first, comma, rest = label.rpartition(", ")
    return plain(first) + "<br>" + plain(rest) if comma else plain(label)


def _has_interval(part: Json) -> bool:
    return any(each["high"] is not None for each in part["settings"].values())

"""A claim of the paper as a picture: the range that agrees with it, and what each setting of the engine gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from sim.reproduce.words import found_words, unbroken

__all__ = ["SETTING_LOOKS", "claim_charts"]

Json = Mapping[str, Any]

#: Colour and symbol of the settings, in their order; told apart from those of schedules by symbol and place.
SETTING_LOOKS = (("var(--s4)", "circle"), ("var(--s3)", "diamond"), ("var(--s6)", "square"))
_PAPER = "var(--q1)"
_HALF, _STEP = 0.36, 0.18


def claim_charts(record: Json) -> tuple[Chart, ...]:
    """A figure for every claim with a range of numbers, and one for each quantity where it has several.

    What holds in every trial or not at all is a matter for the table.
    """
    names = [setting["name"] for setting in record["settings"]]
    charts = []
    for claim in record["claims"]:
        parts = [(*_split(part["label"]), part) for part in claim["parts"] if not part["every"]]
        for place, quantity in enumerate(dict.fromkeys(head for head, _, _ in parts)):
            mine = [(point, part) for head, point, part in parts if head == quantity]
            charts.append(_chart(claim, f"claim-{claim['key']}-{place}", quantity, mine, names))
    return tuple(charts)


def _chart(claim: Json, key: str, quantity: str, parts: Sequence[tuple[str, Json]], names: Sequence[str]) -> Chart:
    shown = names if claim["engine"] else ["any setting"]
    keys = names if claim["engine"] else names[:1]
    ours = [part for _, part in parts]
    traces = [_ours(name, each, ours, place) for place, (name, each) in enumerate(zip(shown, keys, strict=True))]
    legend = go.Scatter(
        x=[None], y=[None], mode="markers", name=_bases(ours), marker={"color": _PAPER, "symbol": "square", "size": 12}
    )
    ticks = [f"{plain(point)}<br>{_arrow(part)}{plain(unbroken(part['stated']))}" for point, part in parts]
    unit = ours[0]["unit"]
    return Chart(
        key=key,
        title=claim["text"],
        caption="Marks are means over seeds with 95 % intervals. Shaded, or beyond a line in the direction of ▲ and ▼: "
        f"what counts as agreeing with the paper ({claim['source']}), whose words stand below; the legend says whose "
        "range it is.",
        figure=figure(
            [legend, *traces],
            x=axis(
                "",
                range=[-0.6, len(parts) - 0.4],
                showgrid=False,
                tickmode="array",
                tickvals=list(range(len(parts))),
                ticktext=ticks,
                tickangle=0,
            ),
            y=axis(f"{quantity} ({unit})" if unit else quantity, zeroline=True, range=_limits(ours, keys)),
            shapes=[shape for place, part in enumerate(ours) for shape in _stated(place, part["range"])],
        ),
        height=330,
    )


def _ours(name: str, key: str, parts: Sequence[Json], place: int) -> go.Scatter:
    found = [part["settings"][key] for part in parts]
    color, symbol = SETTING_LOOKS[place]
    halves = [0.0 if each["high"] is None else each["high"] - each["mean"] for each in found]
    both = zip(parts, found, strict=True)
    told = [plain(f"{part['label']}: {found_words(each, part['unit'])}") for part, each in both]
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


def _limits(parts: Sequence[Json], keys: Sequence[str]) -> list[float]:
    """A range that shows all marks, their intervals and what agrees, for Plotly does not look at shapes."""
    found = [part["settings"][key] for part in parts for key in keys]
    ends = [each[name] for each in found for name in ("mean", "low", "high")]
    ends += [part["range"][name] for part in parts for name in ("low", "high")]
    there = [end for end in ends if end is not None]
    room = 0.06 * (max(there) - min(there)) or 1.0
    return [min(there) - room, max(there) + room]


def _arrow(part: Json) -> str:
    """On which side of its line an open range lies."""
    within = part["range"]
    return "▼ " if within["low"] is None else "▲ " if within["high"] is None else ""


def _bases(parts: Sequence[Json]) -> str:
    """Whose ranges the shaded ones are: the paper's own, or ours where it has words only."""
    return " / ".join(dict.fromkeys(part["range"]["basis"] for part in parts))


def _split(label: str) -> tuple[str, str]:
    """ "gap, chains" → what is measured, and where; a label without a comma is both."""
    head, comma, point = label.rpartition(", ")
    return (head, point) if comma else (label, label)

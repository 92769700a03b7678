"""One picture with its words, and the look all pictures share."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

__all__ = ["Chart", "axis", "figure", "plain", "time_scale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure and what stands around it.

    Attributes
    ----------
    key : the element's id; unique on a page.
    title : what it shows.
    caption : how to read it, and what was left out of the drawing.
    figure : the Plotly figure, None when there is nothing to draw.
    missing : why there is nothing to draw.
    height : in pixels.
    alarm : a sentence about something that should not be there; empty when all is well.
    """

    key: str
    title: str
    caption: str = ""
    figure: go.Figure | None = None
    missing: str = ""
    height: int = 380
    alarm: str = ""


def figure(
    traces: Iterable[Any], *, x: dict[str, Any], y: dict[str, Any], legend: bool = True, **layout: Any
) -> go.Figure:
    """A figure in the page's look. Colours are CSS variables, so one figure serves light and dark."""
    look = {
        "template": go.layout.Template(),
        "paper_bgcolor": "var(--card)",
        "plot_bgcolor": "var(--card)",
        "font": {"color": "var(--ink)", "size": 13},
        "margin": {"l": 64, "r": 18, "t": 34 if legend else 14, "b": 50},
        "hoverlabel": {"bgcolor": "var(--paper)", "bordercolor": "var(--line)", "align": "left"},
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": "var(--card)"},
        "xaxis": x,
        "yaxis": y,
    }
    return go.Figure(data=list(traces), layout={**look, **layout})


def axis(title: str, **extra: Any) -> dict[str, Any]:
    """An axis with its title (unit included) in the page's look."""
    look = {
        "title": {"text": title, "standoff": 8, "font": {"size": 13}},
        "gridcolor": "var(--grid)",
        "linecolor": "var(--line)",
        "zerolinecolor": "var(--line)",
        "zeroline": False,
        "automargin": True,
        "separatethousands": True,
    }
    return {**look, **extra}


def plain(text: str) -> str:
    """A name as Plotly must be given it, for Plotly reads a subset of HTML in texts."""
    return html.escape(text, quote=False)


def time_scale(largest_s: float | None) -> tuple[str, float]:
    """The unit a time axis is drawn in, and its units a second: ms below 10 s."""
    return ("s", 1.0) if largest_s is not None and largest_s >= 10 else ("ms", 1e3)

"""Figures as PNG files, drawn by kaleido and a Chromium in the light palette (the `png` extra)."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plotly.graph_objects import Figure

from reports.chart import Chart
from sim.errors import ScenarioError

__all__ = ["png_writer"]

_PALETTE = Path(__file__).parent / "templates" / "palette.css"
_WIDTH, _SCALE = 900, 2
#: Pixels that the title needs above a figure.
_TITLE = 42
_FONT = "Inter, Segoe UI, Helvetica Neue, Arial, sans-serif"


def png_writer() -> Callable[[Sequence[Chart], Path], list[Path]]:
    """What writes charts into a folder as ``<key>.png``, 1,800 pixels wide; charts without a figure are left out.

    Raises
    ------
    ScenarioError
        kaleido is not installed, or (when writing) its browser is not there or does not start; the message says what
        to install.
    """
    if importlib.util.find_spec("kaleido") is None:
        hint = "Install it: pip install -e '.[png]', or pip install kaleido; it also needs Chrome or Chromium."
        raise ScenarioError("--png", "no kaleido", "the png extra", hint)
    return _write


def _write(charts: Sequence[Chart], folder: Path) -> list[Path]:
    import plotly.io

    drawn = [(chart, chart.figure) for chart in charts if chart.figure is not None]
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{chart.key}.png" for chart, _ in drawn]
    figures = [_in_light(chart, figure) for chart, figure in drawn]
    heights = [chart.height + _TITLE for chart, _ in drawn]
    try:
        plotly.io.write_images(figures, paths, format="png", width=_WIDTH, height=heights, scale=_SCALE)
    except RuntimeError as error:  # what plotly makes of a browser that is not there or does not start
        found = f"no browser that works ({str(error).strip().splitlines()[0]})"
        hint = "Install Chrome or Chromium, or name its program in the environment variable BROWSER_PATH."
        raise ScenarioError("--png", found, "Chrome or Chromium, for kaleido", hint) from error
    return paths


def _in_light(chart: Chart, figure: Figure) -> dict[str, Any]:
    """The figure with its title and the light palette's colours in place of CSS variables."""
    plain: dict[str, Any] = _resolved(figure.to_plotly_json())
    layout = plain["layout"]
    layout["font"]["family"] = _FONT
    layout["title"] = {"text": chart.title, "x": 0.01, "xanchor": "left", "font": {"size": 15}}
    layout["margin"] = {**layout["margin"], "t": layout["margin"]["t"] + _TITLE}
    return plain


def _resolved(node: Any) -> Any:
    if isinstance(node, str):
        return _palette().get(node, node)
    if isinstance(node, Mapping):
        return {key: _resolved(item) for key, item in node.items()}
    if isinstance(node, list | tuple):
        return [_resolved(item) for item in node]
    return node


@functools.cache
def _palette() -> dict[str, str]:
    """``var(--name)`` → colour, of the light theme, which stands first."""
    light = _PALETTE.read_text(encoding="utf-8").split("}", 1)[0]
    return {f"var({name})": color for name, color in re.findall(r"(--[\w-]+):\s*(#[0-9a-f]+)", light)}

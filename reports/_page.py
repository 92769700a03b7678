"""The shell of every page: templates, one packed copy of plotly.js, strict JSON, atomic writing."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup, escape
from plotly.graph_objects import Figure
from plotly.offline import get_plotlyjs

from reports.series import DASHES, Series
from sim.run_folder import write_text

__all__ = ["embedded_json", "figure_json", "write_page"]

_TEMPLATES = Path(__file__).parent / "templates"
_DASH_ARRAYS = dict(zip(DASHES, ("none", "5 3", "1.5 2.5", "5 2 1.5 2", "8 3", "8 2 1.5 2"), strict=True))


def write_page(template: str, out: Path, context: Mapping[str, Any]) -> Path:
    """Render a template and put it in place as a whole file or not at all; returns `out`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, _environment().get_template(template).render(context))
    return out


def figure_json(figure: Figure) -> Markup:
    """A figure as a block of strict JSON; numbers keep seven digits, which is more than a screen shows."""
    return embedded_json(figure.to_plotly_json())


def embedded_json(data: Any) -> Markup:
    """Strict JSON that can stand inside a script element: no NaN, no infinity, no character that ends it.

    >>> print(embedded_json({"a": [float("nan"), "</script>"]}))
    {"a":[null,"\\u003c/script\\u003e"]}
    """
    text = json.dumps(_clean(data), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _clean(data: Any) -> Any:
    """Plain containers and numbers; what is not finite becomes null."""
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if isinstance(data, float):
        return float(f"{data:.7g}") if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): _clean(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_clean(value) for value in data]
    return data


@functools.cache
def _packed_plotly() -> Markup:
    """plotly.js as gzip in base64: 2 MB instead of 5, unpacked by the browser when the first figure is near."""
    packed = gzip.compress(get_plotlyjs().encode(), compresslevel=6, mtime=0)
    return Markup(base64.b64encode(packed).decode("ascii"))


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"packed_plotly": _packed_plotly, "figure_json": figure_json, "source": _source}
    environment.tests["mapping_or_list"] = lambda found: isinstance(found, Mapping | list | tuple)
    environment.filters |= {"dash_array": _dash_array, "glued": _glued, "coded": _coded}
    return environment


def _source(name: str) -> Markup:
    """A style sheet or script of ours, to stand inside its element as it is."""
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))


def _glued(text: Markup) -> Markup:
    """Numbers that a line break cannot part from their units and errors."""
    for loose in (" %", " ms", " s;", " s.", " ± "):
        text = text.replace(loose, loose.replace(" ", "\N{NO-BREAK SPACE}"))
    return text


def _coded(text: str) -> Markup:
    """A text of the records with its `keys` set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its fellow
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def _dash_array(series: Series) -> str:
    """The SVG dashes of a series' line in the legend."""
    return _DASH_ARRAYS[DASHES[series.dash]]

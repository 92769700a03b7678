"""Figures of a calibration: measured against fitted, and what is left over, by what a pass consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure

__all__ = ["measured_against_fitted", "residuals"]

Row = Mapping[str, Any]

#: Kind → its name and palette slot.
KINDS = {"prefill": ("prefill: TTFT of one prompt", 0), "decode": ("decode: one step", 1), "mixed": ("closed loops", 2)}


def measured_against_fitted(rows: Sequence[Row]) -> Chart:
    """Every grid point on log axes; on the line the fit is right."""
    times = [value for row in rows for value in (row["measured_ms"], row["fitted_ms"]) if value > 0]
    traces = [*_line(times), *_marks(rows, lambda row: row["measured_ms"], lambda row: row["fitted_ms"])]
    look = {"type": "log", "dtick": 1, "exponentformat": "none"}
    return Chart(
        key="measured-fitted",
        title="Measured and fitted",
        caption="Medians over repetitions. Hollow marks were held out; closed loops were predicted by simulation.",
        figure=figure(traces, x=axis("measured, ms", **look), y=axis("fitted, ms", **look)) if rows else None,
        missing="Nothing was measured.",
    )


def residuals(rows: Sequence[Row]) -> tuple[Chart, ...]:
    """By new tokens, by cached tokens, by requests that decode together."""
    prefill, decode = ([row for row in rows if row["kind"] == kind] for kind in ("prefill", "decode"))
    return (
        _residual("new", "Left over by new tokens", prefill, "new tokens of the prompt", "new_tokens"),
        _residual(
            "cached", "Left over by cached tokens", prefill, "cached tokens before them", "cached_tokens", log=False
        ),
        _residual("batch", "Left over by batch", decode, "requests that decode together", "num_requests"),
        _residual("context", "Left over by context", decode, "tokens of context in all", "context_tokens"),
    )


def _residual(key: str, title: str, rows: Sequence[Row], label: str, field: str, *, log: bool = True) -> Chart:
    traces = _marks(rows, lambda row: row[field], lambda row: 100 * (row["fitted_ms"] / row["measured_ms"] - 1))
    scale = {"type": "log", "dtick": 1} if log else {}
    x = axis(label, **scale)
    y = axis("fitted − measured, % of measured", zeroline=True)
    return Chart(
        key=f"residual-{key}",
        title=title,
        caption="Hollow marks were held out. A slope or a bow would be something the model does not have.",
        figure=figure(traces, x=x, y=y, legend=False) if rows else None,
        missing="Nothing of the kind was measured.",
        height=320,
    )


def _marks(rows: Sequence[Row], x: Callable[[Row], float], y: Callable[[Row], float]) -> list[go.Scatter]:
    traces = []
    for kind, (name, slot) in KINDS.items():
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        traces.append(
            go.Scatter(
                x=[x(row) for row in mine],
                y=[y(row) for row in mine],
                mode="markers",
                name=name,
                text=[
                    f"{row['key']}: measured {row['measured_ms']:.4g} ms, fitted {row['fitted_ms']:.4g} ms"
                    for row in mine
                ],
                marker={
                    "color": f"var(--s{slot})",
                    "size": 9,
                    "symbol": ["circle-open" if row["held_out"] else "circle" for row in mine],
                    "line": {"width": 2, "color": f"var(--s{slot})"},
                },
                hovertemplate="%{text}<extra></extra>",
            )
        )
    return traces


def _told(row: Row) -> str:
    return f"{row['key']}: measured {row['measured_ms']:.4g} ms, fitted {row['fitted_ms']:.4g} ms"


def _line(times: Sequence[float]) -> list[go.Scatter]:
    if not times:
        return []
    ends = [min(times) * 0.8, max(times) * 1.25]
    style = {"color": "var(--muted)", "width": 1.5, "dash": "dot"}
    return [go.Scatter(x=ends, y=ends, mode="lines", name="fitted = measured", line=style, hoverinfo="skip")]

"""A calibrated profile as the terminal shows it: coefficients with intervals, errors on what the fit has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

__all__ = ["calibration_table"]


def calibration_table(profile: Mapping[str, Any]) -> Group:
    """Two tables."""
    return Group(_coefficients(profile), _errors(profile))


def _coefficients(profile: Mapping[str, Any]) -> Table:
    table = Table(title=f"latency of {profile['name']}, ms", title_justify="left", header_style="bold")
    for title in ("coefficient", "fitted", f"{100 * profile['confidence']:.0f} % interval", "not identified"):
        table.add_column(title, justify="left" if title in {"coefficient", "not identified"} else "right")
    for name, value in profile["latency"].items():
        low, high = profile["intervals"].get(name, (None, None))
        interval = profile["not_fitted"].get(name, "–") if low is None else f"{low:.4g} … {high:.4g}"
        table.add_row(name, f"{value:.4g}", interval, profile["unidentified"].get(name, ""))
    return table


def _errors(profile: Mapping[str, Any]) -> Table:
    table = Table(title="error on what the fit has not seen, %", title_justify="left", header_style="bold")
    for title in ("kind", "mean", "p95", "max", "n", "repetitions differ by"):
        table.add_column(title, justify="left" if title == "kind" else "right")
    for kind, errors in profile["held_out_error_percent"].items():
        spread = profile["repeat_spread_percent"].get(kind)
        numbers = [f"{errors[key]:.1f}" for key in ("mean", "p95", "max")] + [f"{errors['n']}"] if errors else ["–"] * 4
        table.add_row(kind, *numbers, "–" if spread is None else f"± {spread:.1f}")
    return table

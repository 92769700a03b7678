"""The calibration page: how good a profile is, on what, and what it cannot know. Made from the profile alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports._page import write_page
from reports.figures import calibration
from reports.text import number

__all__ = ["write_calibration_page"]

KINDS = {
    "prefill": "time to first token of one prompt",
    "decode": "one decode step",
    "mixed": "means of closed loops",
}


def write_calibration_page(profile: Mapping[str, Any], out: Path) -> Path:
    """Write the page of a profile made by `calibrate` to `out`, whole or not at all; returns `out`."""
    rows = profile["measurements"]
    context = {
        "title": str(profile["name"]),
        "reading": _reading(profile),
        "interrupted": profile["provenance"].get("status") == "interrupted",
        "cards": _cards(profile),
        "fit": calibration.measured_against_fitted(rows),
        "residuals": calibration.residuals(rows),
        "errors": _error_rows(profile),
        "coefficients": _coefficient_rows(profile),
        "confidence": f"{100 * profile['confidence']:.0f} %",
        "unidentified": sorted(profile["unidentified"].items()),
        "measurements": [_measurement_row(row) for row in rows],
        "server": {**profile["server"], "kv_tokens": profile["kv_tokens"]},
        "provenance": profile["provenance"],
    }
    return write_page("calibration_page.html.j2", out, context)


def _percent(value: float | None) -> str:
    return "not measured" if value is None else f"{number(value, 1)} %"


def _reading(profile: Mapping[str, Any]) -> Sequence[str]:
    said = []
    for kind, what in KINDS.items():
        errors, spread = profile["held_out_error_percent"].get(kind), profile["repeat_spread_percent"].get(kind)
        if errors is None:
            said.append(f"{kind}: not measured on anything the fit had not seen")
            continue
        own = "" if spread is None else f" (the server's own repetitions: ± {_percent(spread)})"
        said.append(f"{what} {_percent(errors['mean'])} off on average, {_percent(errors['max'])} at most{own}")
    missing, of = len(profile["unidentified"]), len(profile["latency"])
    if missing:
        known = f"{missing} of {of} coefficients could not be told from the measurements; they are listed."
    else:
        known = "Every coefficient was identified."
    return f"On what the fit has not seen: {'; '.join(said)}.", known


def _cards(profile: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    latency, errors = profile["latency"], profile["held_out_error_percent"]
    cards = [
        (
            f"{kind.capitalize()} error",
            _percent(found["mean"] if found else None),
            f"mean of {found['n']} held-out points; P95 {_percent(found['p95'])}" if found else "nothing was held out",
        )
        for kind, found in errors.items()
    ]
    rate = 1e3 / latency["token_ms"] if latency["token_ms"] else None
    step = latency["decode_base_ms"] + latency["decode_overhead_ms"]
    capacity = profile["kv_tokens"]
    return (
        *cards,
        ("Prefill rate", number(rate, 0), "new tokens a second, long prompts, nothing cached"),
        ("Shortest decode step", f"{number(step)} ms", "before any request or context"),
        ("KV cache", "unbounded" if capacity is None else f"{capacity:,}", "tokens, as the server says"),
    )


def _error_rows(profile: Mapping[str, Any]) -> Sequence[tuple[str, ...]]:
    rows = []
    for kind, found in profile["held_out_error_percent"].items():
        spread = profile["repeat_spread_percent"].get(kind)
        numbers = [_percent(found[key] if found else None) for key in ("mean", "p95", "max")]
        rows.append((f"{kind}: {KINDS[kind]}", *numbers, str(found["n"] if found else 0), _percent(spread)))
    return rows


def _coefficient_rows(profile: Mapping[str, Any]) -> Sequence[tuple[str, ...]]:
    rows = []
    for name, value in profile["latency"].items():
        low, high = profile["intervals"].get(name, (None, None))
        unfitted = profile["not_fitted"].get(name, "not identified")
        interval = unfitted if low is None else f"{number(low)} … {number(high)}"
        rows.append((name, number(value), interval))
    return rows


def _measurement_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    measured, fitted, repeats = row["measured_ms"], row["fitted_ms"], row["repeats_ms"]
    return (
        f"{row['kind']} {row['key']}",
        number(measured),
        number(fitted),
        f"{number(100 * (fitted / measured - 1), 1, signed=True)} %",
        f"{number(min(repeats))} … {number(max(repeats))}" if len(repeats) > 1 else "once",
        "held out" if row["held_out"] else "fitted",
    )

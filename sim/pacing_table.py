"""What budgets did, as a table in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

__all__ = ["pacing_table"]


def pacing_table(pacing: Mapping[str, Any]) -> Group:
    """The `pacing` part of a summary: one line a schedule, and how regret grows."""
    table = Table(
        header_style="bold", caption="welfare as scheduled, batch by batch; regret against the best in hindsight"
    )
    table.add_column("budgets")
    for title in ("welfare, % vs truth", "guaranteed, %", "κ bound", "spent, %", "budgets kept", "regret, % of bound"):
        table.add_column(title, justify="right")
    for label, found in pacing["schedules"].items():
        violations, overspent = found["bound_violations"], found["overspent"]
        table.add_row(
            Text(label),
            _moments(found["welfare_vs_truthful_pct"]),
            _moments(found["guaranteed_pct"]),
            "–" if found["guaranteed_pct"]["mean"] is None else _promise(violations, "never violated"),
            _number(found["spent_pct"]),
            _promise(overspent, "all, always"),
            _number(found["regret_pct"]),
        )
    parts: list[Table | Text] = [table]
    fit = pacing["exponent"]
    if fit is not None:
        low, high = fit["interval"]
        horizons = ", ".join(f"{horizon:,}" for horizon, _ in fit["points"])
        parts.append(
            Text(f"regret grows like T^{fit['exponent']:.2f} (95 %: {low:.2f} … {high:.2f}) over T = {horizons}")
        )
    return Group(*parts)


def _moments(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "–"
    return f"{found['mean']:+.2f}" + ("" if found["se"] is None else f" ± {found['se']:.2f}")


def _number(found: float | None) -> str:
    return "–" if found is None else f"{found:.1f}"


def _promise(broken: int, kept: str) -> str:
    return kept if broken == 0 else f"BROKEN {broken:,} times"

"""What budgets did, as a table in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.pacing_words import ERRORS, growth_text, signed, why_no_regret

__all__ = ["pacing_table"]


def pacing_table(pacing: Mapping[str, Any]) -> Group:
    """The `pacing` part of a summary: one line a schedule, and how regret grows."""
    caption = f"welfare as scheduled, batch by batch; regret against the best in hindsight. {ERRORS}"
    table = Table(header_style="bold", caption=caption)
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
    if pacing["exponent"] is not None:
        parts.append(Text(growth_text(pacing["exponent"])))
    found = pacing["schedules"].values()
    for why in dict.fromkeys(map(why_no_regret, found)):
        if why:
            labels = ", ".join(label for label, each in pacing["schedules"].items() if why_no_regret(each) == why)
            parts.append(Text(f"{labels}: {why[0].lower()}{why[1:]}"))
    if any(each["auctions"] is not None and len(each["auctions"]["auction"]) > 1 for each in found):
        parts.append(
            Text(
                "Where all requests wait from the start, the % over random above ranks the whole queue, and most of it "
                "is which batch a request is in, which no bid moves: what budgets do stands in this table."
            )
        )
    return Group(*parts)


def _moments(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "–"
    return signed(found["mean"], 2) + ("" if found["se"] is None else f" ± {found['se']:.2f}")


def _number(found: float | None) -> str:
    return "–" if found is None else f"{found:.1f}"


def _promise(broken: int, kept: str) -> str:
    return kept if broken == 0 else f"BROKEN {broken:,} times"

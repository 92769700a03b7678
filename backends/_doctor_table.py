"""A diagnosis as a table for people: question, answer."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from backends._doctor import Diagnosis

__all__ = ["doctor_table"]

UNKNOWN = "could not be found out"


def doctor_table(found: Diagnosis) -> Table:
    """One row a question; what is missing stands last, with the command line to copy below it."""
    table = Table(title=f"{found.url} is up")
    table.add_column("question")
    table.add_column("answer", overflow="fold")
    for name, value in found.facts.items():
        table.add_row(name.replace("_", " "), _plain(value))
    table.add_row("reports cached tokens", _cached(found.cached_tokens))
    for kind, counts in (found.order or {}).items():
        kept = f"{counts['inversions']} inversions among {counts['dated']} dated requests"
        table.add_row(f"keeps the order ({kind})", kept if counts["dated"] else UNKNOWN)
    table.add_row("priority works", _priority(found.priority))
    for flag, purpose in found.missing:
        table.add_row("missing", f"{flag}: {purpose}")
    if found.command:
        table.caption = f"start it with: {found.command}"
    return table


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not said" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _cached(cached: dict[str, int | None] | None) -> str:
    if cached is None:
        return UNKNOWN
    first, second = cached["first"], cached["second"]
    return f"{'yes' if second else 'no'} ({_plain(first)}, then {_plain(second)} for one prompt sent twice)"


def _priority(priority: dict[str, Any] | None) -> str:
    if priority is None:
        return UNKNOWN
    return f"yes, {priority['direction']}" if priority["works"] else "no, requests are served as they come"

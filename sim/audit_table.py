"""An audit as tables in a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.audit_report import KIND_NAMES, AuditReport, MechanismReport
from sim.audit_words import mechanism_name, percent, reading

__all__ = ["audit_table"]


def audit_table(report: AuditReport) -> Group:
    """What `audit` prints: for every mechanism the verdict, and a row for each kind of lie."""
    parts: list[Table | Text] = []
    for found in report.mechanisms:
        parts += [Text(f"{mechanism_name(found)}: {reading(found)}"), _kinds(found)]
    return Group(*parts)


def _kinds(found: MechanismReport) -> Table:
    table = Table("who lies how", header_style="bold")
    for title in ("can gain", "best gain", "of worth", "welfare then"):
        table.add_column(title, justify="right")
    table.add_column("the best lie")
    for kind in found.kinds:
        best = kind.best
        share = f"{len(kind.shares)} of {kind.tried}" if kind.tried else "nobody to try"
        if best is None:
            table.add_row(KIND_NAMES[kind.kind], share, "–", "–", "–", "")
            continue
        users = " and ".join(best.users)
        table.add_row(
            KIND_NAMES[kind.kind],
            share,
            f"{best.gain:.4g}",
            percent(best.gain / best.worth),
            percent(best.welfare_change, signed=True),
            Text(f"{users}: {best.how}"),
        )
    return table

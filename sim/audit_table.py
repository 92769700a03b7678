"""An audit as tables in a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.audit_report import KIND_NAMES, AuditReport, MechanismReport
from sim.audit_words import count_of, mechanism_name, percent, reading

__all__ = ["audit_table"]


def audit_table(report: AuditReport) -> Group:
    """What `audit` prints: for every mechanism the verdict, and a row for each kind of lie."""
    parts: list[Table | Text] = []
    if not report.complete:
        parts.append(Text("Partial: interrupted; what follows was found until then."))
    for found in report.mechanisms:
        parts += [Text(f"{mechanism_name(found)}: {reading(found)}"), _kinds(found)]
    parts.append(
        Text(
            "gain: over the truth. the trick: what names or text in front add to the better of the truth and the same "
            "bids told plainly; who gains by it can gain. most of worth: the largest share of a liar's worth."
        )
    )
    parts += [Text(note) for note in report.source.notes]
    parts.append(Text(f"again: {report.source.command}"))
    return Group(*parts)


def _kinds(found: MechanismReport) -> Table:
    table = Table("who lies how", header_style="bold")
    for title in ("can gain", "best gain", "of worth", "the trick", "most of worth", "welfare then"):
        table.add_column(title, justify="right")
    table.add_column("the best lie")
    for kind in found.kinds:
        best = kind.best
        if best is None:
            table.add_row(KIND_NAMES[kind.kind], count_of(kind), *["–"] * 5, "")
            continue
        users = " and ".join(best.users)
        table.add_row(
            KIND_NAMES[kind.kind],
            count_of(kind),
            f"{best.gain:.4g}",
            percent(best.gain_share),
            "–" if best.adds is None else f"{best.adds:.4g}",
            percent(max(kind.shares)),
            percent(best.welfare_change, signed=True),
            Text(f"{users}: {best.how}"),
        )
    return table

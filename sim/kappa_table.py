"""The κ report as a table in a terminal."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.kappa_details import KappaDetails
from sim.kappa_report import KappaReport
from sim.kappa_words import batch_name, percent, reading

__all__ = ["kappa_table"]

_NODES = 10


def kappa_table(report: KappaReport) -> Group:
    """What `kappa` prints: the reading, a row a schedule for a run, and the nodes that matter most in one batch."""
    parts: list[Table | Text] = [Text("\n".join(reading(report)))]
    if report.is_run and report.groups:
        parts.append(_schedules(report))
    if report.shown is not None and len(report.shown.found.bound.node):
        parts.append(_nodes(report.shown, of_run=report.is_run))
    if len(report.groups) > 1:
        parts.append(
            Text("--schedule LABEL shows the nodes of another schedule; those of the page can be picked there.")
        )
    return Group(*parts)


def _schedules(report: KappaReport) -> Table:
    table = Table("schedule", header_style="bold")
    for title in ("auctions", "guaranteed", "by pairs", "average-bid DFS", "lowest bound", "largest κ"):
        table.add_column(title, justify="right")
    for group in report.groups:
        largest = max(float(each.found.bound.kappa.max(initial=1.0)) for each in group.batches)
        table.add_row(
            Text(f"{group.schedule}{'' if group.by_average_bid else ' (if served by average bid)'}"),
            f"{len(group.batches):,}",
            *(percent(share) for share in (group.guaranteed, group.by_pairs, group.realised)),
            percent(min(float(each.found.bound.bound) for each in group.batches)),
            _kappa(largest),
        )
    return table


def _nodes(shown: KappaDetails, *, of_run: bool) -> Table:
    found = shown.found
    where = f", {found.priced.schedule}, {batch_name(shown)}" if of_run else ""
    table = Table(
        title=Text(f"Where welfare may be lost{where}"),
        caption=Text(f"the {_NODES} worst of {len(found.bound.node):,} nodes; shares of the best welfare")
        if len(found.bound.node) > _NODES
        else Text("shares of the best welfare"),
        header_style="bold",
    )
    for title in ("shared tokens", "requests", "children", "κ", "welfare here", "may be lost", "is lost"):
        table.add_column(title, justify="right")
    for place in np.lexsort((-found.weight, -found.allowed))[:_NODES].tolist():
        table.add_row(
            *(f"{int(each[place]):,}" for each in (found.depth_tokens, found.num_requests, found.num_children)),
            _kappa(float(found.bound.kappa[place])),
            *(percent(float(each[place])) for each in (found.weight, found.allowed, found.lost)),
        )
    reasons = found.reasons()
    if reasons:
        first = next(iter(reasons.values()))
        told = f"κ is infinite at {len(reasons):,} of the nodes; at the first of them, {first}"
        table.caption = Text(f"{table.caption}. {told}.")
    return table


def _kappa(kappa: float) -> str:
    return "∞" if math.isinf(kappa) else f"{kappa:.4g}"

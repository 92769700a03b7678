"""The audit page: does lying pay, under which mechanism, how, and what does it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports._page import write_page
from reports.figures import audits
from sim.audit_report import KIND_NAMES, AuditReport, KindReport, MechanismReport
from sim.audit_words import gain_text, mechanism_name, percent, reading, repeat

__all__ = ["write_audit_page"]

_LINES = 40


def write_audit_page(report: AuditReport, out: Path) -> Path:
    """Write the page of an audit to `out`, whole or not at all; returns `out`.

    The page needs no network, follows the reader's light or dark setting, and holds one copy of plotly.js.
    """
    context = {
        "title": Path(report.source).name or report.source,
        "readings": [(mechanism_name(found), reading(found)) for found in report.mechanisms],
        "cards": [_card(found) for found in report.mechanisms],
        "alarms": [alarm for found in report.mechanisms if (alarm := _alarm(found))],
        "names": [mechanism_name(found) for found in report.mechanisms],
        "rows": [(name, [_cell(found.kind(kind)) for found in report.mechanisms]) for kind, name in KIND_NAMES.items()],
        "figures": (audits.gains(report.mechanisms), audits.welfare_costs(report.mechanisms)),
        "lies": [(mechanism_name(found), _lies(found, report)) for found in report.mechanisms],
        "data": _facts(report),
    }
    return write_page("audit_page.html.j2", out, context)


def _card(found: MechanismReport) -> tuple[str, str, str]:
    """Mechanism, how many users gain by misreporting alone, and by how much."""
    alone = found.kind("misreport")
    if alone.best is None:
        return mechanism_name(found), f"0 of {alone.tried}", "users gain by misreporting alone"
    note = f"users gain by misreporting alone, at most {percent(max(alone.shares))} of what their requests are worth"
    return mechanism_name(found), f"{len(alone.shares)} of {alone.tried}", note


def _alarm(found: MechanismReport) -> str:
    best = found.kind("misreport").best
    if not found.claims_truthful or best is None:
        return ""
    return (
        f"{mechanism_name(found)} declares itself truthful, and user {best.users[0]} {gain_text(best)} by lying: "
        f"{best.how}."
    )


def _cell(kind: KindReport) -> tuple[str, str]:
    """How many can gain, and what it brings and costs."""
    if not kind.tried:
        return "–", "nobody to try it on"
    if kind.best is None:
        return f"0 of {kind.tried}", ""
    worst = percent(min(kind.welfare_changes), signed=True)
    return (
        f"{len(kind.shares)} of {kind.tried}",
        f"median gain {percent(float(np.median(kind.shares)))}; welfare at worst {worst}",
    )


def _lies(found: MechanismReport, report: AuditReport) -> Sequence[Mapping[str, Any]]:
    """The best lie of each kind with what repeating it takes."""
    lies = []
    for kind in found.kinds:
        if kind.best is not None:
            lines = repeat(kind.best, report)
            rest = [f"… and {len(lines) - _LINES} more: audit --json has all"] if len(lines) > _LINES else []
            lies.append(
                {
                    "kind": KIND_NAMES[kind.kind],
                    "who": " and ".join(kind.best.users),
                    "how": kind.best.how,
                    "gain": gain_text(kind.best),
                    "welfare": percent(kind.best.welfare_change, signed=True),
                    "lines": lines[:_LINES] + rest,
                }
            )
    return lies


def _facts(report: AuditReport) -> Mapping[str, Any]:
    batches = {mechanism_name(found): list(map(_batch, found.batches)) for found in report.mechanisms}
    return {
        "source": report.source,
        "seed of who is tried": report.seed,
        "users or pairs tried, at most, a kind and batch": report.users_tried,
        "truthful auctions": batches,
    }


def _batch(batch: tuple[int | None, int, int, float]) -> str:
    number, n, users, welfare = batch
    name = "batch" if number is None else f"batch {number}"
    return f"{name}: {n:,} requests of {users:,} users, welfare {welfare:.6g}"

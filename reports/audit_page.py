"""The audit page: does lying pay, under which mechanism, how, and what does it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports._page import write_page
from reports.figures import audits
from sim.audit_lie import BestLie
from sim.audit_report import KIND_NAMES, AuditReport, KindReport, MechanismReport
from sim.audit_words import count_of, gain_text, mechanism_name, percent, reading, repeat

__all__ = ["write_audit_page"]

_LINES = 40


def write_audit_page(report: AuditReport, out: Path) -> Path:
    """Write the page of an audit to `out`, whole or not at all; returns `out`.

    The page needs no network, follows the reader's light or dark setting, and holds one copy of plotly.js.
    """
    context = {
        "title": Path(report.source.name).name or report.source.name,
        "complete": report.complete,
        "notes": report.source.notes,
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


def _card(found: MechanismReport) -> Mapping[str, Any]:
    """Mechanism, how many users gain by misreporting alone and by how much, and the same of the other lies."""
    alone, *others = found.kinds
    most = f", at most {_most(alone)}" if alone.shares else ""
    return {
        "title": mechanism_name(found),
        "number": count_of(alone),
        "note": f"users gain by misreporting alone{most}" if alone.tried else "one user misreports",
        "others": [
            (KIND_NAMES[kind.kind], f"{count_of(kind)}{f', up to {_most(kind)}' if kind.shares else ''}")
            for kind in others
        ],
    }


def _most(kind: KindReport) -> str:
    return f"{percent(max(kind.shares))} of worth"


def _alarm(found: MechanismReport) -> str:
    best = found.kind("misreport").best
    if not found.claims_truthful or best is None:
        return ""
    return (
        f"{mechanism_name(found)} declares itself truthful, and user {best.users[0]} {gain_text(best)} by lying: "
        f"{best.how}."
    )


def _cell(kind: KindReport) -> tuple[str, tuple[str, ...]]:
    """How many can gain, and what it brings and costs."""
    if kind.best is None or kind.largest_share is None:
        return count_of(kind), ()
    median, most = percent(float(np.median(kind.shares))), percent(kind.largest_share.counted_share)
    worst = percent(min(kind.welfare_changes), signed=True)
    return count_of(kind), (f"median {median}, at most {most} of worth", f"welfare at worst {worst}")


def _lies(found: MechanismReport, report: AuditReport) -> Sequence[Mapping[str, Any]]:
    """The best lie of each kind with what repeating it takes, and the one of the largest share where it is another."""
    lies = []
    for kind in found.kinds:
        name = KIND_NAMES[kind.kind]
        if kind.best is not None:
            lies.append(_lie(name, kind.best, report))
        if kind.largest_share is not None and kind.largest_share != kind.best:
            lies.append(_lie(f"{name}: the largest share of worth", kind.largest_share, report))
    return lies


def _lie(name: str, best: BestLie, report: AuditReport) -> Mapping[str, Any]:
    lines = repeat(best, report)
    rest = [f"… and {len(lines) - _LINES} more: audit --json has all"] if len(lines) > _LINES else []
    return {
        "kind": name,
        "who": " and ".join(best.users),
        "how": best.how,
        "gain": gain_text(best),
        "welfare": percent(best.welfare_change, signed=True),
        "lines": lines[:_LINES] + rest,
    }


def _facts(report: AuditReport) -> Mapping[str, Any]:
    source = report.source
    batches = {mechanism_name(found): list(map(_batch, found.batches)) for found in report.mechanisms}
    return {
        "command": source.command,
        **({} if source.config_hash is None else {"hash of the resolved scenario": source.config_hash}),
        "source": source.name,
        **{option.removeprefix("--"): value for option, value in source.options.items()},
        "truthful auctions": batches,
    }


def _batch(batch: tuple[int | None, int, int, float]) -> str:
    number, n, users, welfare = batch
    name = "batch" if number is None else f"batch {number}"
    requests = f"{n:,} request{'s' * (n != 1)} of {users:,} user{'s' * (users != 1)}"
    return f"{name}: {requests}, welfare {welfare:.6g}"

"""An audit in words: what its reader wants to know first."""

from __future__ import annotations

from sim.audit_report import KIND_NAMES, AuditReport, BestLie, KindReport, MechanismReport

__all__ = ["gain_text", "mechanism_name", "percent", "reading", "repeat"]


def mechanism_name(found: MechanismReport) -> str:
    """The mechanism as people call it: the schedule, the payment, and the label where it is another word."""
    name = f"{found.schedule} + {found.payment}"
    return name if found.label in {found.schedule, name} else f"{found.label} ({name})"


def reading(found: MechanismReport) -> str:
    """Whether lying pays under one mechanism, in a sentence or two."""
    alone = found.kind("misreport")
    if alone.best is None:
        first = f"No misreport pays: {alone.tried} users were tried, each with all and with single bids moved."
    else:
        first = (
            f"Lying about values pays: {_share(alone)} users can gain by it alone, the best {gain_text(alone.best)} "
            f"({alone.best.how})."
        )
    others = [kind for kind in found.kinds if kind.kind != "misreport" and kind.best is not None]
    if not others:
        return f"{first} No other manipulation was found either."
    worst = max(others, key=lambda kind: max(kind.shares))
    assert worst.best is not None
    return (
        f"{first} The strongest other way is {KIND_NAMES[worst.kind].removeprefix('one user, ')}: "
        f"{_share(worst)} gain, up to {percent(max(worst.shares))} of what their requests are worth."
    )


def gain_text(best: BestLie) -> str:
    """A gain in money and as a share of what the liars' requests are worth."""
    return f"gains {best.gain:.4g}, {percent(best.gain / best.worth)} of what the requests are worth"


def repeat(best: BestLie, report: AuditReport) -> list[str]:
    """What to change in the batch so that the lie can be repeated, a line each."""
    lines = [] if best.batch is None else [f"batch {best.batch} of {report.source}, trial 0, seed of the scenario"]
    lines += [f"request {request}: bid {bid!r}" for request, bid in best.bids.items()]
    lines += [f"request {request}: user {name}" for request, name in best.names.items()]
    for request, (copied, tokens) in best.prefixes.items():
        front = "a token no other prompt begins with"
        if copied is not None:
            front = f"the first {tokens:,} tokens of request {copied}'s prompt"
        lines.append(f"request {request}: put {front} in front")
    return lines


def percent(share: float, *, signed: bool = False) -> str:
    """A share to two digits, or to the per cent.

    >>> percent(0.0004), percent(0.5012), percent(-0.0312, signed=True)
    ('0.04 %', '50 %', '-3.1 %')
    """
    number = 100 * share
    text = f"{number:{'+' if signed else ''}.0f}" if abs(number) >= 10 else f"{number:{'+' if signed else ''}.2g}"
    return f"{text} %"


def _share(kind: KindReport) -> str:
    return f"{len(kind.shares)} of {kind.tried}"

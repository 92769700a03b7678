"""An audit in words: what its reader wants to know first."""

from __future__ import annotations

from typing import Any

from sim.audit_lie import BestLie
from sim.audit_report import KIND_NAMES, AuditReport, KindReport, MechanismReport

__all__ = ["count_of", "gain_text", "mechanism_name", "percent", "reading", "repeat"]


def mechanism_name(found: MechanismReport) -> str:
    """The mechanism as people call it: the schedule, the payment, and the label where it is another word."""
    name = f"{found.schedule} + {found.payment}"
    return name if found.label in {found.schedule, name} else f"{found.label} ({name})"


def reading(found: MechanismReport) -> str:
    """Whether lying pays under one mechanism, in a sentence or two."""
    alone = found.kind("misreport")
    if not alone.tried:
        first = "No misreport was tried."
    elif alone.best is None or alone.largest_share is None:
        users = "user was" if alone.tried == 1 else "users were"
        first = f"No misreport pays: {alone.tried} {users} tried, each with all and with single bids moved."
    else:
        user = "user" if alone.tried == 1 else "users"
        first = f"Lying about values pays: {count_of(alone)} {user} can gain by it alone, the best {_best(alone.best)}"
        if alone.largest_share.counted_share > alone.best.counted_share:
            share = percent(alone.largest_share.counted_share)
            first += f"; the largest share, {share}, is what {alone.largest_share.users[0]} gains"
        first += "."
    others = [kind for kind in found.kinds if kind.kind != "misreport" and kind.best is not None]
    if any(kind.tried < kind.planned for kind in found.kinds):
        first += " Not all was tried."
    elif not others:
        return f"{first} No other manipulation was found either." if alone.best is None else first
    if not others:
        return first
    worst = max(others, key=lambda kind: max(kind.shares))
    return (
        f"{first} The strongest other way is {KIND_NAMES[worst.kind].removeprefix('one user, ')}: "
        f"{count_of(worst)} gain, up to {percent(max(worst.shares))} of what their requests are worth."
    )


def gain_text(best: BestLie) -> str:
    """A gain over the truth, in money and as a share of what the requests are worth, and the part of a trick in it."""
    pronoun = "the requests are" if len(best.users) > 1 or best.worth <= 0 else "his requests are"
    text = f"gains {best.gain:.4g} over the truth, {percent(best.gain_share)} of what {pronoun} worth"
    if best.adds is not None and best.bids:
        text += f"; {best.adds:.4g} of it by the trick, beyond the same bids told plainly"
    return text


def count_of(kind: KindReport) -> str:
    """How many of those it was tried on can gain."""
    if kind.tried:
        return f"{len(kind.shares)} of {kind.tried}"
    return "not tried" if kind.planned else "nobody to try it on"


def repeat(best: BestLie, report: AuditReport) -> list[str]:
    """What to change in the batch so that the lie can be repeated, a line each."""
    lines = [] if best.batch is None else [f"batch {best.batch} of {report.source.name}, trial 0, seed of the scenario"]
    lines += [f"request {request}: bid {bid!r}, worth what it was" for request, bid in best.bids.items()]
    lines += [f"request {request}: user {name}" for request, name in best.names.items()]
    return lines + [f"request {request}: put {_front(prefix)} in front" for request, prefix in best.prefixes.items()]


def percent(share: float, *, signed: bool = False) -> str:
    """A share to two digits, or to the per cent.

    >>> percent(0.0004), percent(0.5012), percent(-0.0312, signed=True), percent(-1e-17, signed=True), percent(2e-6)
    ('0.04 %', '50 %', '−3.1 %', '0 %', '0.0002 %')
    """
    number = 100 * share
    if abs(number) < 1e-6:
        return "0 %" if abs(number) < 1e-9 else f"{'' if number > 0 else '−'}0.000001 % or less"
    rounded, sign = float(f"{number:.2g}"), "+" if signed else ""
    text = f"{number:{sign}.0f}" if abs(number) >= 10 else f"{rounded:{sign}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %".replace("-", "\N{MINUS SIGN}")


def _best(best: BestLie) -> str:
    return f"{gain_text(best)} ({best.how})"


def _front(prefix: dict[str, Any]) -> str:
    """The text in front, and how many tokens longer the prompt gets where that is not said by it."""
    added = prefix["tokens_added"]
    grows = f" ({added:,} {'token' if added == 1 else 'tokens'} more)"
    if prefix["of_request"] is None:
        if "character" in prefix:
            return f"the character {prefix['character']!r}, with which no other prompt begins,{grows}"
        unit = "block" if "block" in prefix else "token"
        return f"the {unit} {prefix[unit]}, with which no other prompt begins,{grows}"
    unit = "characters" if "first_characters" in prefix else "tokens"
    amount = prefix[f"first_{unit}"]
    counted = f"the first {amount:,} {unit}" if amount != 1 else f"the first {unit[:-1]}"
    return f"{counted} of request {prefix['of_request']}'s prompt{grows if added != amount else ''}"

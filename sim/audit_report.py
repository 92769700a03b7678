"""What an audit found: by mechanism and kind of manipulation, with the best lie of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.audit_lie import BestLie
from sim.audit_source import AuditSource
from sim.errors import InvariantError

__all__ = ["KIND_NAMES", "AuditReport", "KindReport", "MechanismReport", "check_claims"]

#: How kinds of manipulation are called on tables and pages.
KIND_NAMES = {
    "misreport": "one user misreports",
    "false-names": "one user, several names",
    "coalition": "two users agree",
    "coalition-side-payments": "two users agree and share",
    "padding": "text in front of prompts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReport:
    """One kind of manipulation against one mechanism, over all audited batches.

    Attributes
    ----------
    planned, tried : users, or pairs, to try it on, and those it was tried on: fewer after Ctrl-C.
    shares : what counts (the gain, or what the trick adds) as a share of what the liars' requests are worth, one for
        each that can gain.
    welfare_changes : share of truthful welfare, aligned.
    best, largest_share : the lies that bring most in money, and by share; None if none pays.
    """

    kind: str
    planned: int
    tried: int
    shares: tuple[float, ...]
    welfare_changes: tuple[float, ...]
    best: BestLie | None
    largest_share: BestLie | None

    @property
    def share_of_users(self) -> float | None:
        """How many of those it was tried on can gain; None where there is nobody to try it on."""
        return len(self.shares) / self.tried if self.tried else None

    @classmethod
    def together(cls, parts: Sequence[KindReport]) -> KindReport:
        """One kind over all batches."""
        bests = [part.best for part in parts if part.best is not None]
        largest = [part.largest_share for part in parts if part.largest_share is not None]
        return cls(
            kind=parts[0].kind,
            planned=sum(part.planned for part in parts),
            tried=sum(part.tried for part in parts),
            shares=tuple(share for part in parts for share in part.shares),
            welfare_changes=tuple(change for part in parts for change in part.welfare_changes),
            best=max(bests, key=lambda each: each.counted, default=None),
            largest_share=max(largest, key=lambda each: each.counted_share, default=None),
        )

    def to_json(self) -> dict[str, Any]:
        """The kind's part of the `audit` JSON."""
        return {
            "kind": self.kind,
            "planned": self.planned,
            "tried": self.tried,
            "can_gain": len(self.shares),
            "share": self.share_of_users,
            "median_share_of_worth": float(np.median(self.shares)) if self.shares else None,
            "worst_welfare_change": min(self.welfare_changes, default=None),
            "best": None if self.best is None else self.best.to_json(),
            "largest_share": None if self.largest_share is None else self.largest_share.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismReport:
    """One pair of rules.

    Attributes
    ----------
    label : in the scenario; the schedule's name for a batch file.
    claims_truthful : whether the pricing rule says that no user gains by misreporting.
    batches : (number, requests, users, truthful welfare) of every audited batch.
    """

    label: str
    schedule: str
    payment: str
    claims_truthful: bool
    batches: tuple[tuple[int | None, int, int, float], ...]
    kinds: tuple[KindReport, ...]

    def kind(self, name: str) -> KindReport:
        """What was found of one kind."""
        return next(each for each in self.kinds if each.kind == name)

    def to_json(self) -> dict[str, Any]:
        """The mechanism's part of the `audit` JSON."""
        names = ("batch", "n", "num_users", "welfare")
        return {
            "label": self.label,
            "schedule": self.schedule,
            "payment": self.payment,
            "claims_truthful": self.claims_truthful,
            "auctions": [dict(zip(names, batch, strict=True)) for batch in self.batches],
            "kinds": [kind.to_json() for kind in self.kinds],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The audit of one batch file or scenario; `complete` unless Ctrl-C ended it early."""

    source: AuditSource
    mechanisms: tuple[MechanismReport, ...]
    complete: bool = True

    def to_json(self) -> dict[str, Any]:
        """The `audit` JSON."""
        return {
            "status": "complete" if self.complete else "partial",
            "source": self.source.name,
            "command": self.source.command,
            "options": {option.removeprefix("--"): value for option, value in self.source.options.items()},
            "config_hash": self.source.config_hash,
            "notes": list(self.source.notes),
            "mechanisms": [each.to_json() for each in self.mechanisms],
        }


def check_claims(mechanisms: Sequence[MechanismReport]) -> None:
    """Refuse to stay silent when a rule that calls itself truthful is not.

    Raises
    ------
    InvariantError
        A user gains by misreporting under a pricing rule that declares `truthful`.
    """
    for each in mechanisms:
        best = each.kind("misreport").best
        if each.claims_truthful and best is not None:
            raise InvariantError(
                f"{each.label}: the payment {each.payment} declares itself truthful, but user {best.users[0]} gains "
                f"{best.gain:.6g} by a misreport: {best.how}"
            )

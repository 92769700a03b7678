"""What an audit found: by mechanism and kind of manipulation, with the best lie of each and how to repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanism.audit.game import Deviation, Game
from mechanism.prompts import FloatArray, IntArray, Prompts
from sim.errors import InvariantError

__all__ = ["KIND_NAMES", "AuditReport", "AuditedBatch", "BestLie", "KindReport", "MechanismReport", "check_claims"]

#: How kinds of manipulation are called on tables and pages.
KIND_NAMES = {
    "misreport": "one user misreports",
    "false-names": "one user, several names",
    "coalition": "two users agree",
    "coalition-side-payments": "two users agree and share",
    "padding": "text in front of prompts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedBatch:
    """n requests of one auction with true values.

    Attributes
    ----------
    number : of the batch in its scenario; None for a batch file.
    request_id, user_names : names.
    prompts, values : n requests.
    users : (n,) index into `user_names`.
    """

    number: int | None
    request_id: tuple[str, ...]
    user_names: tuple[str, ...]
    prompts: Prompts
    values: FloatArray
    users: IntArray

    def __len__(self) -> int:
        return len(self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLie:
    """The lie of one kind that gains most.

    Attributes
    ----------
    batch : number of the batch; None for a batch file.
    users, gains : who lies, and what each gains over the truth, money.
    worth : Σ of the values of their requests.
    how : the lie in words.
    welfare_change : share of truthful welfare, < 0 is a loss.
    bids : request → what is bid for it, where that is not its value.
    names : request → the name it is sent under, where that is not its owner's.
    prefixes : request → the text in front: first tokens of another request's prompt, or (None, 1): one of its own.
    """

    batch: int | None
    users: tuple[str, ...]
    gains: tuple[float, ...]
    worth: float
    how: str
    welfare_change: float
    bids: dict[str, float]
    names: dict[str, str]
    prefixes: dict[str, tuple[str | None, int]]

    @property
    def gain(self) -> float:
        """What the liars gain together."""
        return sum(self.gains)

    @classmethod
    def of(cls, deviation: Deviation, game: Game, batch: AuditedBatch) -> BestLie:
        """A deviation in the batch's own names."""
        lie, ids = deviation.lie, batch.request_id
        moved = np.flatnonzero(lie.bids != game.values)
        sent = game.users if lie.names is None else lie.names
        names = {ids[r]: _alias(batch, game, int(sent[r]), r) for r in np.flatnonzero(sent != game.users).tolist()}
        return cls(
            batch=batch.number,
            users=tuple(batch.user_names[user] for user in deviation.who),
            gains=deviation.gains,
            worth=game.worth(deviation.who),
            how=deviation.how,
            welfare_change=deviation.welfare / game.truth.welfare - 1 if game.truth.welfare > 0 else 0.0,
            bids={ids[request]: float(lie.bids[request]) for request in moved},
            names=names,
            prefixes={
                ids[each.request]: (None if each.copied is None else ids[each.copied], each.tokens)
                for each in lie.padding
            },
        )

    def to_json(self) -> dict[str, Any]:
        """All that repeating the lie takes."""
        return {
            "batch": self.batch,
            "users": list(self.users),
            "gain": self.gain,
            "gains": list(self.gains),
            "gain_share_of_worth": self.gain / self.worth,
            "how": self.how,
            "welfare_change": self.welfare_change,
            "bids": self.bids,
            "names": self.names,
            "prefixes": {
                request: {"first_tokens": tokens, "of_request": copied}
                for request, (copied, tokens) in self.prefixes.items()
            },
        }


def _alias(batch: AuditedBatch, game: Game, name: int, request: int) -> str:
    return f"{batch.user_names[game.users[request]]}#{name - game.num_users + 2}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReport:
    """One kind of manipulation against one mechanism, over all audited batches.

    Attributes
    ----------
    tried : users, or pairs, it was tried on.
    shares : gain as a share of what the liars' requests are worth, one for each that can gain.
    welfare_changes : share of truthful welfare, aligned.
    best : the lie that gains most; None if none pays.
    """

    kind: str
    tried: int
    shares: tuple[float, ...]
    welfare_changes: tuple[float, ...]
    best: BestLie | None

    @property
    def share_of_users(self) -> float | None:
        """How many of those it was tried on can gain; None where there is nobody to try it on."""
        return len(self.shares) / self.tried if self.tried else None

    def to_json(self) -> dict[str, Any]:
        """The kind's part of the `audit` JSON."""
        return {
            "kind": self.kind,
            "tried": self.tried,
            "can_gain": len(self.shares),
            "share": self.share_of_users,
            "median_gain_share_of_worth": float(np.median(self.shares)) if self.shares else None,
            "worst_welfare_change": min(self.welfare_changes, default=None),
            "best": None if self.best is None else self.best.to_json(),
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
    """The audit of one batch file or scenario; `users_tried`: at most so many users, or pairs, a kind and batch."""

    source: str
    seed: int
    users_tried: int
    mechanisms: tuple[MechanismReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The `audit` JSON."""
        mechanisms = [each.to_json() for each in self.mechanisms]
        return {"source": self.source, "seed": self.seed, "users_tried": self.users_tried, "mechanisms": mechanisms}


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

"""A lie that pays, in the names of the batch it was found in: with what repeating it takes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanism.audit.game import Deviation, Gainful, Game, Lie
from mechanism.audit.pen import Padding, Pen
from mechanism.prompts import FloatArray, IntArray, Prompts

__all__ = ["AuditedBatch", "BestLie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedBatch:
    """n requests of one auction with true values.

    Attributes
    ----------
    number : of the batch in its scenario; None for a batch file.
    request_id, user_names : names.
    prompts, values : n requests.
    users : (n,) index into `user_names`.
    pen : how its users put text in front of prompts.
    """

    number: int | None
    request_id: tuple[str, ...]
    user_names: tuple[str, ...]
    prompts: Prompts
    values: FloatArray
    users: IntArray
    pen: Pen | None = None

    def __len__(self) -> int:
        return len(self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLie(Gainful):
    """A lie that pays, in the batch's own names.

    Attributes
    ----------
    batch : number of the batch; None for a batch file.
    users, gains : who lies, and what each gains over the truth, money.
    adds : what names or padding add to the better of the truth and the same bids told plainly, money; None where the
        lie is in the bids alone.
    worth : Σ of the values of their requests.
    how : the lie in words.
    welfare_change : share of truthful welfare, < 0 is a loss.
    bids : request → what is bid, where that is not its value.
    names : request → the name it is sent under, where that is not its owner's.
    prefixes : request → the text in front, as the `audit` JSON has it.
    """

    batch: int | None
    users: tuple[str, ...]
    gains: tuple[float, ...]
    worth: float
    how: str
    welfare_change: float
    bids: dict[str, float]
    names: dict[str, str]
    prefixes: dict[str, dict[str, Any]]
    adds: float | None = None

    @property
    def counted_share(self) -> float:
        """The same as a share of what the liars' requests are worth."""
        return self.counted / self.worth if self.worth > 0 else 0.0

    @property
    def gain_share(self) -> float:
        """The gain over the truth as a share of what the liars' requests are worth."""
        return self.gain / self.worth if self.worth > 0 else 0.0

    @classmethod
    def of(cls, deviation: Deviation, game: Game, batch: AuditedBatch) -> BestLie:
        """A deviation in the batch's own names."""
        lie, ids = deviation.lie, batch.request_id
        moved = np.flatnonzero(lie.bids != game.values)
        return cls(
            batch=batch.number,
            users=tuple(batch.user_names[user] for user in deviation.who),
            gains=deviation.gains,
            adds=deviation.adds,
            worth=game.worth(deviation.who),
            how=deviation.how,
            welfare_change=deviation.welfare / game.truth.welfare - 1 if game.truth.welfare > 0 else 0.0,
            bids={ids[request]: float(lie.bids[request]) for request in moved},
            names=_names(lie, game, batch),
            prefixes={ids[each.request]: _prefix(each, ids) for each in lie.padding},
        )

    def to_json(self) -> dict[str, Any]:
        """All that repeating the lie takes."""
        return {
            "batch": self.batch,
            "users": list(self.users),
            "gain": self.gain,
            "gains": list(self.gains),
            "gain_share_of_worth": self.gain_share,
            "trick_adds": self.adds,
            "how": self.how,
            "welfare_change": self.welfare_change,
            "bids": self.bids,
            "names": self.names,
            "prefixes": self.prefixes,
        }


def _names(lie: Lie, game: Game, batch: AuditedBatch) -> dict[str, str]:
    """Request → its false name: the owner's with a number, such as nobody in the batch has."""
    if lie.names is None:
        return {}
    taken, alias, names = set(batch.user_names), {}, {}
    for request in np.flatnonzero(lie.names != game.users).tolist():
        owner, number = batch.user_names[game.users[request]], int(lie.names[request])
        if number not in alias:
            alias[number] = next(name for count in itertools.count(2) if (name := f"{owner}#{count}") not in taken)
            taken.add(alias[number])
        names[batch.request_id[request]] = alias[number]
    return names


def _prefix(padding: Padding, ids: Sequence[str]) -> dict[str, Any]:
    """What is put in front of one prompt, and how many tokens that adds."""
    unit = "character" if padding.characters else "token" if padding.block_tokens is None else "block"
    if padding.copied is None:
        what: dict[str, Any] = {"of_request": None, unit: padding.fresh}
    else:
        counted = "first_characters" if padding.characters else "first_tokens"
        what = {"of_request": ids[padding.copied], counted: padding.amount}
    blocks = {} if padding.block_tokens is None else {"block_tokens": padding.block_tokens}
    return {**what, **blocks, "tokens_added": padding.tokens_added}

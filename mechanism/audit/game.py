"""One auction as a game: what users get out of it when some of them lie."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechanism.clearing import clear
from mechanism.model import Auction, PricingRule, SchedulingRule
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree
from mechanism.welfare import priority

__all__ = ["TOLERANCE", "Deviation", "Game", "Lie", "Padding", "Play"]

#: A gain counts above this share of what the deviating users' requests are worth together; below it is rounding.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Padding:
    """Text put in front of a prompt: the first `tokens` tokens of the prompt of request `copied`.

    `copied` None: one token that only the liar's padded prompts begin with.
    """

    request: int
    copied: int | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """What the mechanism is told instead of the truth.

    Attributes
    ----------
    bids : (n,) money.
    names : (n,) under which name each request is sent, 0 … number of names − 1; None = users appear as they are.
    tree : the prompt tree that padded prompts make; None = nobody pads.
    padding : how that tree came about.
    """

    bids: FloatArray
    names: IntArray | None = None
    tree: RadixTree | None = None
    padding: tuple[Padding, ...] = ()


@dataclass(frozen=True, slots=True)
class Play:
    """How an auction ends: `utility` (num_users,) Σ v·x − payments, by true owners and true values; `welfare` Σ v·x."""

    utility: FloatArray
    welfare: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """n requests with their true values and owners, and the rules that treat them.

    Attributes
    ----------
    tree : of the true prompts.
    values : (n,) what requests are worth, money.
    users : (n,) 0 … num_users − 1.
    prompt_tokens : (n,) for rules that count tokens; None = unknown.
    truth : how the auction ends when nobody lies.
    """

    tree: RadixTree
    values: FloatArray
    users: IntArray
    num_users: int
    schedule: SchedulingRule
    pricing: PricingRule
    prompt_tokens: IntArray | None = None
    truth: Play = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", self.play(Lie(bids=self.values)))

    def play(self, lie: Lie) -> Play:
        """Clear the auction that the mechanism is shown, and settle up by the truth."""
        names, owner = self.users, np.arange(self.num_users)
        if lie.names is not None:
            names = lie.names
            owner = np.zeros(int(names.max()) + 1, dtype=np.int64)
            owner[names] = self.users
        outcome = clear(
            Auction(
                tree=self.tree if lie.tree is None else lie.tree,
                bids=lie.bids,
                users=names,
                num_users=len(owner),
                prompt_tokens=self.prompt_tokens,
            ),
            self.schedule,
            self.pricing,
        )
        obtained = self.values * priority(outcome.order)
        gained, paid = np.zeros(self.num_users), np.zeros(self.num_users)
        np.add.at(gained, self.users, obtained)
        np.add.at(paid, owner, outcome.payments)
        return Play(gained - paid, float(obtained.sum()))

    def adds(self, lie: Lie, user: int) -> float:
        """What false names or padding bring a user: his gain over the truth, and over the same bids without them."""
        without = self.truth if lie.bids is self.values else self.play(Lie(bids=lie.bids))
        return float(self.play(lie).utility[user] - max(without.utility[user], self.truth.utility[user]))

    def order(self) -> IntArray:
        """(n,) the truthful schedule."""
        shown = Auction(
            tree=self.tree,
            bids=self.values,
            users=self.users,
            num_users=self.num_users,
            prompt_tokens=self.prompt_tokens,
        )
        order: IntArray = self.schedule.order(shown)
        return order

    def requests_of(self, user: int) -> IntArray:
        """Request indices of a user."""
        return np.flatnonzero(self.users == user)

    def worth(self, who: tuple[int, ...]) -> float:
        """Σ of the values of these users' requests: the most they could get out of the auction."""
        return float(self.values[np.isin(self.users, who)].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A lie that pays.

    Attributes
    ----------
    kind : of manipulation.
    who : the users who lie.
    gains : what each of them gains over the truth, money.
    lie : what they say.
    how : it in words.
    welfare : of the auction with the lie.
    """

    kind: str
    who: tuple[int, ...]
    gains: tuple[float, ...]
    lie: Lie
    how: str
    welfare: float

    @property
    def gain(self) -> float:
        """What the liars gain together."""
        return sum(self.gains)

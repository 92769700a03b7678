"""One auction as a game: what users get out of it when some of them lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mechanism.audit.pen import Padding, Pen, SymbolPen, with_prompts
from mechanism.clearing import clear
from mechanism.model import Auction, PricingRule, SchedulingRule
from mechanism.prompts import FloatArray, IntArray, Prompts
from mechanism.radix_tree import RadixTree, build_tree
from mechanism.welfare import priority

__all__ = ["TOLERANCE", "Deviation", "Game", "Lie", "Play"]

#: A gain counts above this share of what the deviating users' requests are worth together; below it is rounding.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """What the mechanism is told instead of the truth.

    Attributes
    ----------
    bids : (n,) money.
    names : (n,) under which name each request is sent, 0 … number of names − 1; None = users appear as they are.
    padding : the prompts that have text in front, at most one for each request.
    tree, prompt_tokens : of the prompts as submitted; None = nobody pads.
    """

    bids: FloatArray
    names: IntArray | None = None
    padding: tuple[Padding, ...] = ()
    tree: RadixTree | None = None
    prompt_tokens: IntArray | None = None


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
    prompts : the true prompts.
    values : (n,) what requests are worth, money.
    users : (n,) 0 … num_users − 1.
    pen : how text is put in front of prompts; None = symbol by symbol.
    tree, prompt_tokens : of the true prompts.
    truth : how the auction ends when nobody lies.
    """

    prompts: Prompts
    values: FloatArray
    users: IntArray
    num_users: int
    schedule: SchedulingRule
    pricing: PricingRule
    pen: Pen | None = None
    tree: RadixTree = field(init=False)
    prompt_tokens: IntArray = field(init=False)
    truth: Play = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pen", self.pen or SymbolPen(self.prompts))
        object.__setattr__(self, "tree", build_tree(self.prompts))
        object.__setattr__(self, "prompt_tokens", self.prompts.num_tokens)
        object.__setattr__(self, "truth", self.play(Lie(bids=self.values)))

    def play(self, lie: Lie) -> Play:
        """Clear the auction that the mechanism is shown, and settle up by the truth."""
        names, owner = self.users, np.arange(self.num_users)
        if lie.names is not None:
            names = lie.names
            owner = np.zeros(int(names.max()) + 1, dtype=np.int64)
            owner[names] = self.users
        outcome = clear(self._shown(lie, names, len(owner)), self.schedule, self.pricing)
        obtained = self.values * priority(outcome.order)
        gained, paid = np.zeros(self.num_users), np.zeros(self.num_users)
        np.add.at(gained, self.users, obtained)
        np.add.at(paid, owner, outcome.payments)
        return Play(gained - paid, float(obtained.sum()))

    def padded(self, padding: Sequence[Padding], bids: FloatArray) -> Lie:
        """The lie of submitting padded prompts with these bids."""
        prompts = with_prompts(self.prompts, {each.request: each.prompt for each in padding})
        return Lie(bids=bids, padding=tuple(padding), tree=build_tree(prompts), prompt_tokens=prompts.num_tokens)

    def adds(self, lie: Lie, user: int) -> float:
        """What false names or padding add for a user to the better of the truth and the same bids told plainly."""
        without = self.truth if lie.bids is self.values else self.play(Lie(bids=lie.bids))
        return float(self.play(lie).utility[user] - max(without.utility[user], self.truth.utility[user]))

    def order(self) -> IntArray:
        """(n,) the truthful schedule."""
        order: IntArray = self.schedule.order(self._shown(Lie(bids=self.values), self.users, self.num_users))
        return order

    def requests_of(self, user: int) -> IntArray:
        """Request indices of a user."""
        return np.flatnonzero(self.users == user)

    def worth(self, who: tuple[int, ...]) -> float:
        """Σ of the values of these users' requests: the most they could get out of the auction."""
        return float(self.values[np.isin(self.users, who)].sum())

    def _shown(self, lie: Lie, names: IntArray, num_names: int) -> Auction:
        """What the mechanism sees."""
        return Auction(
            tree=self.tree if lie.tree is None else lie.tree,
            bids=lie.bids,
            users=names,
            num_users=num_names,
            prompt_tokens=self.prompt_tokens if lie.prompt_tokens is None else lie.prompt_tokens,
        )


class Gainful:
    """What pays: `gains` of each liar over the truth, and what a trick `adds`, None without one; money."""

    __slots__ = ()
    gains: tuple[float, ...]
    adds: float | None

    @property
    def gain(self) -> float:
        """What the liars gain together over the truth."""
        return sum(self.gains)

    @property
    def counted(self) -> float:
        """What speaks for this kind of lie: the gain, or what the trick adds."""
        return self.gain if self.adds is None else self.adds


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Gainful):
    """A lie that pays.

    Attributes
    ----------
    kind : of manipulation.
    who : the users who lie.
    gains : what each of them gains over the truth, money.
    adds : what a trick beside the bids (names, padding) adds to the better of the truth and the same bids told
        plainly, money; None where the lie is in the bids alone.
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
    adds: float | None = None

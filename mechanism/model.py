"""The market's nouns: an auction goes in, an outcome comes out. Frozen, struct of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree

__all__ = [
    "Auction",
    "Bidder",
    "BiddingAgent",
    "BiddingSetting",
    "LooksBack",
    "Outcome",
    "PricingRule",
    "SchedulingRule",
    "SetsPriorities",
    "Standing",
    "StaysWithinBids",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Auction:
    """One scheduling batch of n requests, in arrival order (index = arrival rank; it breaks every tie).

    Attributes
    ----------
    tree : the request-augmented radix tree of the batch's prompts.
    bids : (n,) bids ≥ 0, in money.
    users : (n,) dense user index, 0 … num_users − 1.
    num_users : number of users.
    prompt_tokens : (n,) lengths of the prompts.
    resident_tokens : (n,) prompt tokens already in the KV cache, where the backend says.
    served_tokens : (num_users,) tokens served to each user so far in the run.
    """

    tree: RadixTree
    bids: FloatArray
    users: IntArray
    num_users: int
    prompt_tokens: IntArray | None = None
    resident_tokens: IntArray | None = None
    served_tokens: IntArray | None = None

    def __len__(self) -> int:
        return len(self.bids)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an auction decided: `order` (n,) request indices, first served first; `payments` (num_users,) money."""

    order: IntArray
    payments: FloatArray


class SchedulingRule(Protocol):
    """A plugin of `mechanism/scheduling/`: a frozen dataclass whose fields are its YAML parameters.

    `domain` says over which orders the rule maximises declared welfare: all DFS schedules of the tree, all
    permutations, or none. `default_payment` names the pricing rule it is used with unless told otherwise; that rule's
    parameters of the same names are then the schedule's. See `LooksBack` for rules that depend on a run's past.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None]
    bid_blind: ClassVar[bool]
    default_payment: ClassVar[str]

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first."""


@runtime_checkable
class LooksBack(Protocol):
    """A scheduling rule that looks at a run's past: `reads` names what, of "resident_tokens" and "served_tokens".

    Residency is asked of the backend for such rules only.
    """

    reads: ClassVar[frozenset[str]]


@runtime_checkable
class SetsPriorities(Protocol):
    """A scheduling rule that leaves the order to the server's own queue, which takes a priority with each request.

    The market holds nothing back for such a rule. `order` is what it amounts to inside one batch.
    """

    @property
    def preempts_above(self) -> int | None:
        """By how much a waiting request's priority must exceed a running one's to take its place; None = never."""

    def priorities(self, bids: FloatArray) -> IntArray:
        """(n,) integers ≥ 0, larger first."""


class PricingRule(Protocol):
    """A plugin of `mechanism/pricing/`: a frozen dataclass, pure.

    `truthful`: no user gains by misreporting. `individually_rational`: nobody pays more than his declared value.
    """

    truthful: ClassVar[bool]
    individually_rational: ClassVar[bool]

    def defined_for(self, schedule: SchedulingRule) -> bool:
        """Whether the rule means anything under this schedule; other pairs are refused at `check`."""

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        """(num_users,) payments for serving the auction in `order`."""


@runtime_checkable
class StaysWithinBids(Protocol):
    """A pricing rule that is not individually rational, but charges no user more than the sum of his bids.

    So agents that keep a budget may take part: they bid no more than they have left.
    """

    within_bids: ClassVar[Literal[True]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BiddingSetting:
    """What those who set up a run know of the users a bidding agent will bid for.

    Attributes
    ----------
    num_users : how many; they are numbered 0 … num_users − 1.
    num_auctions : auctions the run will hold, T; None unless the agent `needs` it.
    truthful_spend : (num_users,) what each pays in the whole run when all users bid truthfully; None likewise.
    rng : for draws that belong to the agent, such as budgets.
    """

    num_users: int
    num_auctions: int | None
    truthful_spend: FloatArray | None
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Standing:
    """How users stand after an auction: `multiplier` (k,) what their values were multiplied by in it; `budget_left`
    (k,) what they may still spend, NaN without a budget.
    """

    multiplier: FloatArray
    budget_left: FloatArray


class Bidder(Protocol):
    """A bidding agent at work in one run, for many users at once; remembers between auctions what it must.

    A user's bids may depend on his own values, his own payments and his own budget, and on nothing else.
    """

    def bid(self, values: FloatArray, stated_bids: FloatArray, users: IntArray) -> FloatArray:
        """(n,) bids ≥ 0 for a batch of n requests; `stated_bids` is the recorded column, `users` (n,) the owners."""

    def settle(self, users: IntArray, payments: FloatArray) -> Standing:
        """After every auction, also one without requests of ours: k distinct users and what each of them pays."""


class BiddingAgent(Protocol):
    """A plugin of `mechanism/bidding/`: turns what requests are worth into what their users say.

    A frozen dataclass whose fields are its YAML parameters. `needs` names the fields of `BiddingSetting` it cannot do
    without, among "num_auctions" and "truthful_spend": finding them may take a run of its own. `keeps_a_budget`: it
    promises not to spend more than a budget, so it takes part only where no payment exceeds the declared value, or at
    least the bids.
    """

    keeps_a_budget: ClassVar[bool]

    @property
    def needs(self) -> frozenset[str]:
        """See above."""

    def start(self, setting: BiddingSetting) -> Bidder:
        """A bidder that remembers nothing yet, for one mechanism on one trial."""

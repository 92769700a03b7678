"""The market's nouns: an auction goes in, an outcome comes out. Frozen, struct of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree

__all__ = ["Auction", "BiddingAgent", "Outcome", "PricingRule", "SchedulingRule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Auction:
    """One scheduling batch of n requests, in arrival order (index = arrival rank; it breaks every tie).

    Attributes
    ----------
    tree : the request-augmented radix tree of the batch's prompts.
    bids : (n,) bids ≥ 0, in money.
    users : (n,) dense user index, 0 … num_users − 1.
    num_users : number of users.
    resident_tokens : (n,) prompt tokens already in the KV cache, where the backend says.
    served_tokens : (num_users,) tokens served to each user so far in the run.
    """

    tree: RadixTree
    bids: FloatArray
    users: IntArray
    num_users: int
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
    permutations, or none. `default_payment` names the pricing rule it is used with unless told otherwise.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None]
    bid_blind: ClassVar[bool]
    default_payment: ClassVar[str]

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first."""


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


class BiddingAgent(Protocol):
    """A plugin of `mechanism/bidding/`: turns what requests are worth into what their users say."""

    def bid(self, values: FloatArray, stated_bids: FloatArray) -> FloatArray:
        """(n,) bids ≥ 0 for one batch; `stated_bids` is the recorded column."""

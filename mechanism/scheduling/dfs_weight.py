"""SGLang's dfs-weight: depth first, the subtree with more waiting requests first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanism.dfs import by_average, dfs_order
from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["DfsWeight"]


@dataclass(frozen=True, slots=True)
class DfsWeight:
    """At every node visit the children by the number of requests below them, most first; ties by arrival.

    `--schedule-policy dfs-weight` of SGLang, over the tree of the batch instead of what happens to be cached. Requests
    whose prompt ends at a node weigh 1 like any other, so they follow its larger subtrees.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first. O(n log n)."""
        return dfs_order(auction.tree, by_average(auction.tree, auction.tree.num_requests))

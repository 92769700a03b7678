"""Average-bid depth-first search: the paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanism.dfs import averages, by_average, dfs_order, weight_totals
from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["DfsBid"]


@dataclass(frozen=True, slots=True)
class DfsBid:
    """At every node visit the children by average bid F_b/N, highest first.

    Optimal for declared welfare over all DFS schedules, and at least half of the optimum over all permutations.
    Ties, also between averages equal as float64, go to the child with the smallest arrival index in its subtree.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None] = "dfs"
    bid_blind: ClassVar[bool] = False
    default_payment: ClassVar[str] = "vcg"

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first. O(M + n log n), M = Σ_u N(u)."""
        average = averages(auction.tree, weight_totals(auction.tree, auction.bids))
        return dfs_order(auction.tree, by_average(auction.tree, average))

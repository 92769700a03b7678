"""Depth-first search that ignores bids: Algorithm 1 with all bids equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanism.dfs import dfs_order
from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["DfsUniform"]


@dataclass(frozen=True, slots=True)
class DfsUniform:
    """At every node visit the children in arrival order (smallest arrival index in the subtree first)."""

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first. O(n)."""
        return dfs_order(auction.tree, auction.tree.children)

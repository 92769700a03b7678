"""Highest bid first: optimal for declared welfare over all permutations, blind to the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["BidSort"]


@dataclass(frozen=True, slots=True)
class BidSort:
    """Requests by bid, highest first; equal bids in arrival order."""

    domain: ClassVar[Literal["dfs", "permutations"] | None] = "permutations"
    bid_blind: ClassVar[bool] = False
    default_payment: ClassVar[str] = "vcg"

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first. O(n log n)."""
        return np.argsort(-auction.bids, kind="stable")

"""First come, first served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["NoSort"]


@dataclass(frozen=True, slots=True)
class NoSort:
    """Requests in arrival order."""

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first. O(n)."""
        return np.arange(len(auction))

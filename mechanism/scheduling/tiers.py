"""Fixed-price service tiers, as model providers sell them today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.dfs import dfs_order
from mechanism.model import Auction
from mechanism.prompts import IntArray
from mechanism.tier_menu import TierMenu

__all__ = ["Tiers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Every request is in the tier that is best for it at posted prices; faster tiers are served first.

    The paper's foil (§1): a few coarse tiers instead of bids. A user states what priority is worth to him; the tier
    is chosen on his behalf, see `mechanism.tier_menu`. Within a tier bids count for nothing.

    Attributes
    ----------
    tiers : how many.
    prices : money a request for each tier but the last, which is free, fastest first; null = prices that spread the
        paper's values, 1 + Pareto(1.5), evenly.
    within : order inside a tier: dfs = depth first through the prompt tree, subtrees by arrival; arrival =
        as they came.
    """

    tiers: int = 3
    prices: tuple[float, ...] | None = None
    within: Literal["dfs", "arrival"] = "dfs"

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = False
    default_payment: ClassVar[str] = "posted-tiers"

    def __post_init__(self) -> None:
        TierMenu.of(self.tiers, self.prices)

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first; ties by arrival. O(n (k + log n))."""
        first = np.arange(len(auction)) if self.within == "arrival" else dfs_order(auction.tree, auction.tree.children)
        tier = TierMenu.of(self.tiers, self.prices).choose(auction.bids)
        order: IntArray = first[np.argsort(tier[first], kind="stable")]
        return order

"""Fixed-price service tiers over the prefix tree: whole subtrees wait together, the dearer first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.dfs import averages, by_average, dfs_order
from mechanism.model import Auction
from mechanism.prompts import IntArray
from mechanism.tier_menu import TierMenu

__all__ = ["TreeTiers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTiers:
    """At every node visit the children by the average tier of the requests below them, fastest first.

    What `tiers` does to the cache, mended: there a tier's border cuts through prefix groups, so that what one tier has
    loaded may be gone when the next one comes to it. Here every order is a depth-first one, and nothing is cut: tiers
    of the requests decide which subtree goes first, as average bids do in `dfs-bid`. Where the bids from which
    on the next faster tier is worth its price are evenly spaced, it is `dfs-bid` on bids rounded down to them.

    Every request is in the tier that is best for it at posted prices and pays that price (`posted-tiers`), though it is
    served with its subtree: early among dear neighbours, late among cheap ones. Users expect of a tier what they expect
    under `tiers`; see `mechanism.tier_menu`.

    Attributes
    ----------
    tiers : how many.
    prices : money a request for each tier but the last, which is free, fastest first; null = prices that spread the
        paper's values, 1 + Pareto(1.5), evenly.
    """

    tiers: int = 3
    prices: tuple[float, ...] | None = None

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = False
    default_payment: ClassVar[str] = "posted-tiers"

    def __post_init__(self) -> None:
        TierMenu.of(self.tiers, self.prices)

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first; equal averages by arrival. O(M + n (k + log n))."""
        steps_up = (self.tiers - 1 - TierMenu.of(self.tiers, self.prices).choose(auction.bids)).astype(np.float64)
        return dfs_order(auction.tree, by_average(auction.tree, averages(auction.tree, auction.tree.totals(steps_up))))

"""The posted price of each request's tier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.prompts import FloatArray, IntArray
from mechanism.scheduling.tiers import Tiers
from mechanism.scheduling.tree_tiers import TreeTiers
from mechanism.tier_menu import TierMenu

__all__ = ["PostedTiers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedTiers:
    """Each request pays the price of its tier, wherever in it the request is served: fixed prices (the paper's §1).

    Neither truthful (expectations may be wrong in a batch, and then another tier was better) nor individually rational
    (a request may be served later than its tier made it expect). But nobody pays more than he bids: tier q is chosen
    over the last, which is free, so p_q < b·(E_q − E_last) < b with E the expected priorities.

    Attributes
    ----------
    tiers, prices : those of the schedule, which must be `tiers` or `tree-tiers`.
    """

    tiers: int = 3
    prices: tuple[float, ...] | None = None

    truthful: ClassVar[bool] = False
    individually_rational: ClassVar[bool] = False
    within_bids: ClassVar[Literal[True]] = True

    def __post_init__(self) -> None:
        TierMenu.of(self.tiers, self.prices)

    def defined_for(self, schedule: SchedulingRule) -> bool:
        """Only under tiers with the same prices."""
        return isinstance(schedule, Tiers | TreeTiers) and (schedule.tiers, schedule.prices) == (
            self.tiers,
            self.prices,
        )

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        """(num_users,) Σ over the user's requests of their tiers' prices; nothing for a single request. O(n·k)."""
        payments = np.zeros(auction.num_users)
        if len(order) > 1:
            menu = TierMenu.of(self.tiers, self.prices)
            np.add.at(payments, auction.users, menu.prices[menu.choose(auction.bids)])
        return payments

"""First price: everyone pays what he said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.pricing._money import zeros_like_bids
from mechanism.prompts import FloatArray, IntArray
from mechanism.welfare import requests_after

__all__ = ["PayAsBid"]


@dataclass(frozen=True, slots=True)
class PayAsBid:
    """Each user pays his declared value Σ b·x. Not truthful: bidding less for the same place pays."""

    truthful: ClassVar[bool] = False
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:  # noqa: ARG002 - the protocol's
        """Always."""
        return True

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        """(num_users,) p_i = Σ b_r x_r over the user's requests; 0 for a single request, whom nobody contests. O(n)."""
        payments = zeros_like_bids(auction)
        if len(order) > 1:
            np.add.at(payments, auction.users, auction.bids * requests_after(order))
            payments /= len(order) - 1
        return payments

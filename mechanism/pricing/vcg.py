"""Clarke payments over the schedules a rule optimises over: the paper's Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.pricing._externality import Bidders, charge_many_requests, charge_one_request
from mechanism.pricing._families import Families
from mechanism.pricing._money import zeros_like_bids
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Vcg"]


@dataclass(frozen=True, slots=True)
class Vcg:
    """What each user's bids cost the others: truthful, individually rational, never paying anyone."""

    truthful: ClassVar[bool] = True
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:
        """Only under schedules that maximise declared welfare over a domain."""
        return schedule.domain is not None

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        """(num_users,) p_i = max_σ W(σ; b with i at zero) − W(order; b with i at zero)   [paper §3.2, Algorithm 2]

        The pivot is "i bids zero", not "i leaves": without i's requests the tree would be another one. σ runs over the
        depth-first schedules of `auction.tree`; give the star tree for all permutations.

        Computed node by node as a sum of terms ≥ 0: how much the siblings that overtake a user's subtree, once his
        bids are gone, gain by it. In units of bids, each in [0, Σ b·x]. Works on `object` arrays of `Fraction` exactly.
        O(min{M, mn} log ν) as in the paper, M = Σ_u N(u). A deep chain makes M quadratic in n, but not in the input: M
        is at most the number of prompt symbols, for each ancestor of a request needs a token of its own. The (request,
        ancestor) pairs are visited in bounded portions, and no Python loop runs over nodes.

        Raises
        ------
        MechanismError
            `order` does not maximise declared welfare over the depth-first schedules of `auction.tree`.
        """
        n = len(order)
        payments = zeros_like_bids(auction)
        if n <= 1:
            return payments
        families = Families.of(auction, order)
        bids, users = auction.bids, auction.users
        bidders = Bidders(families, bids[order] > 0)
        num_bids = np.bincount(users[bids > 0], minlength=auction.num_users)
        single = np.where(num_bids[users] == 1, bids, 0)
        greatest = auction.tree.greatest(single)[families.vertex]
        users = users[order]
        charge_one_request(payments, families, bidders, single[order], users, greatest)
        if num_bids.max() > 1:
            charge_many_requests(payments, families, bidders, (bids - single)[order], users)
        most = zeros_like_bids(auction)
        np.add.at(most, users, bids[order] * np.arange(n)[::-1])
        return np.minimum(payments, most) / (n - 1)

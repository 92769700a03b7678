"""One auction from its requests to its outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechanism.errors import MechanismError
from mechanism.model import Auction, Outcome, PricingRule, SchedulingRule
from mechanism.prompts import FloatArray
from mechanism.radix_tree import star_tree
from mechanism.welfare import priority

__all__ = ["check_auction", "clear", "request_payments"]


def clear(auction: Auction, schedule: SchedulingRule, pricing: PricingRule) -> Outcome:
    """Order the auction's requests and charge its users.

    A schedule over all permutations is given the star tree, so that its payments are those of its own domain.

    Raises
    ------
    MechanismError
        The auction is not well formed, or the pricing rule is not defined under this schedule.
    """
    check_auction(auction)
    if not pricing.defined_for(schedule):
        raise MechanismError(f"{type(pricing).__name__} is not defined under {type(schedule).__name__}")
    if schedule.domain == "permutations":
        auction = replace(auction, tree=star_tree(len(auction)))
    order = schedule.order(auction)
    return Outcome(order, pricing.charge(auction, order))


def check_auction(auction: Auction) -> None:
    """Refuse what no rule can make sense of.

    Raises
    ------
    MechanismError
        Shapes that differ, bids that are negative or not finite or whose sum is not, users outside 0 … num_users − 1.
    """
    n, bids, users = auction.tree.num_leaves, auction.bids, auction.users
    if bids.shape != (n,) or users.shape != (n,):
        raise MechanismError(f"auction: {bids.shape} bids and {users.shape} users for a tree of {n} requests")
    most = np.finfo(np.float64).max / max(n, 1) ** 2  # no sum of bids or of Φ overflows
    if not np.all((bids >= 0) & (bids <= most)):
        raise MechanismError("auction: bids must be finite numbers of at least 0, and so must their sum")
    if n and not (users.min() >= 0 and users.max() < auction.num_users):
        raise MechanismError(f"auction: users must lie in 0 … {auction.num_users - 1}")


def request_payments(auction: Auction, outcome: Outcome) -> FloatArray:
    """(n,) each user's payment split over his requests in proportion to b·x; Σ over a user's requests is his payment.

    So no request pays more than its declared value where no user does. What a user pays who declared nothing (no
    individually rational rule charges him) is split evenly.
    """
    declared = auction.bids * priority(outcome.order)
    total = _per_user(auction, declared)
    weight = np.where(total[auction.users] > 0, declared, 1.0)
    weights = _per_user(auction, weight)
    share = np.divide(outcome.payments, weights, out=np.zeros_like(total), where=weights > 0)
    share[(share > 1) & (share < 1 + 1e-9) & (total > 0)] = 1.0  # rounding
    return weight * share[auction.users]


def _per_user(auction: Auction, per_request: FloatArray) -> FloatArray:
    totals = np.zeros(auction.num_users)
    np.add.at(totals, auction.users, per_request)
    return totals

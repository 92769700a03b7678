"""Whose pacing costs welfare: the loss that would go if one user alone were paced like the median user."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanism.bounds import Numbers, check_weights, phi_per_node
from mechanism.dfs import averages, by_average, weight_totals
from mechanism.errors import MechanismError
from mechanism.prompts import IntArray
from mechanism.radix_tree import RadixTree

__all__ = ["median_multiplier", "pacing_losses", "user_totals"]


def user_totals(amounts: Numbers, users: IntArray, num_users: int) -> Numbers:
    """(num_users,) Σ of a per-request amount over each user's requests."""
    totals = np.zeros(num_users, dtype=amounts.dtype)
    np.add.at(totals, users, amounts)
    return totals


def median_multiplier(bid: Numbers, value: Numbers) -> Any:
    """The multiplier Σb/Σv of the median user, users weighted by value; 0 where nothing is worth anything.

    `bid` and `value`: (num_users,) totals. Half of the value at least is bid for at no more than this multiplier.

    >>> float(median_multiplier(np.array([1.0, 3.0, 2.0]), np.array([4.0, 3.0, 2.0])))
    1.0
    """
    worth = np.flatnonzero(value > 0)
    if not len(worth):
        return 0
    with np.errstate(over="ignore"):
        multiplier = _finite(bid[worth] / value[worth], 1)
    order = np.argsort(multiplier, kind="stable")
    below = np.cumsum(value[worth][order])
    return multiplier[order][np.flatnonzero(below >= below[-1] / 2)[0]]


def pacing_losses(
    tree: RadixTree, bids: Numbers, values: Numbers, users: IntArray, num_users: int, limit: int = 16
) -> tuple[IntArray, Numbers]:
    """Who are the `limit` users paced most unlike the median user, and what each one's pacing costs, in units of Φ.

    The cost is Φ(A(b′); v) − Φ(A(b); v), where b′ is b with the user's bids replaced by his values times the batch's
    `median_multiplier`. It is negative for a user whose uneven pacing undoes others'. Costs do not add up to the whole
    loss: two users may spoil the same pair of siblings. *Most unlike*: by Σ |b − median multiplier·v| over the
    user's requests, the money.

    O(limit · (M + n log n)).

    Raises
    ------
    MechanismError
        Weights that `mechanism.bounds.welfare_bound` refuses, or users outside 0 … num_users − 1.

    >>> from mechanism.radix_tree import star_tree
    >>> bids, values = np.array([1.0, 3.0, 2.0]), np.array([4.0, 3.0, 2.0])
    >>> who, cost = pacing_losses(star_tree(3), bids, values, np.arange(3), 3)
    >>> who.tolist(), cost.tolist()  # user 0 bids a quarter of his values, the others all of theirs
    ([0], [3.0])
    """
    check_weights(tree, bids, values)
    if users.shape != bids.shape or (len(users) and not 0 <= users.min() <= users.max() < num_users):
        raise MechanismError(f"pacing losses: users must lie in 0 … {num_users - 1}, one a request")
    median = median_multiplier(user_totals(bids, users, num_users), user_totals(values, users, num_users))
    with np.errstate(over="ignore"):
        paced = _finite(median * values, len(values))
    unlike = user_totals(abs(bids - paced), users, num_users)
    who: IntArray = np.argsort(-unlike, kind="stable")[:limit]
    who = who[unlike[who] > 0]
    total_value = weight_totals(tree, values)

    def welfare(said: Numbers) -> Any:
        order = by_average(tree, averages(tree, weight_totals(tree, said)))
        return phi_per_node(tree, total_value, order).sum()

    now = welfare(bids) if len(who) else 0
    costs = [welfare(np.where(users == user, paced, bids)) - now for user in who.tolist()]
    return who, np.array(costs, dtype=bids.dtype)


def _finite(numbers: Numbers, num_requests: int) -> Numbers:
    """Numbers that overflowed, as the largest of which that many requests can have each; Fractions as they are."""
    if numbers.dtype == object:
        return numbers
    return np.minimum(numbers, float(np.finfo(np.float64).max) / max(num_requests, 1) ** 2)

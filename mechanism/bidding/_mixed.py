"""Several kinds of bidding agents in one run: who bids for whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanism.model import Bidder, Standing
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Mixed", "assign"]


class Mixed:
    """A bidder made of bidders, each for users of its own, whom it numbers from 0 in the order of their numbers here.

    Attributes
    ----------
    bidders : the parts.
    agent_of : (num_users,) which part bids for each user.
    """

    def __init__(self, bidders: Sequence[Bidder], agent_of: IntArray) -> None:
        self.bidders, self.agent_of = tuple(bidders), agent_of
        self._local = np.empty(len(agent_of), dtype=np.int64)
        for part in range(len(self.bidders)):
            mine = agent_of == part
            self._local[mine] = np.arange(mine.sum())

    def bid(self, values: FloatArray, stated_bids: FloatArray, users: IntArray) -> FloatArray:
        """(n,) bids, each by the agent of its request's owner."""
        bids = np.empty_like(values)
        for part, bidder in enumerate(self.bidders):
            mine = self.agent_of[users] == part
            bids[mine] = bidder.bid(values[mine], stated_bids[mine], self._local[users[mine]])
        return bids

    def settle(self, users: IntArray, payments: FloatArray) -> Standing:
        """Tell every agent what its own users pay."""
        multiplier, budget_left = np.ones(len(users)), np.full(len(users), np.nan)
        for part, bidder in enumerate(self.bidders):
            mine = self.agent_of[users] == part
            standing = bidder.settle(self._local[users[mine]], payments[mine])
            multiplier[mine], budget_left[mine] = standing.multiplier, standing.budget_left
        return Standing(multiplier, budget_left)


def assign(num_users: int, shares: Sequence[float], rng: np.random.Generator) -> IntArray:
    """(num_users,) which of several agents each user has, at random, in numbers as near to the shares as can be.

    Whole numbers of users by largest remainder, ties to the earlier agent; `shares` sum to 1.

    >>> np.bincount(assign(10, [0.5, 0.25, 0.25], np.random.default_rng(0))).tolist()
    [5, 3, 2]
    """
    exact = num_users * np.asarray(shares)
    counts = np.floor(exact + 1e-9).astype(np.int64)
    short = num_users - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))

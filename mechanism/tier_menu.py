"""Service tiers as providers sell them: a price for each tier, and which one a request is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanism.errors import MechanismError
from mechanism.prompts import FloatArray, IntArray

__all__ = ["TierMenu"]


@dataclass(frozen=True, slots=True)
class TierMenu:
    """k tiers, fastest first: `prices` (k,) per request, in money, never rising; the last tier is free.

    What users know of a tier is how fast it usually is, not who else is waiting: with a k-th of all requests in each,
    a request of tier q is served ahead of (1 − (q + ½)/k) of the others on average.
    """

    prices: FloatArray

    @classmethod
    def of(cls, tiers: int, prices: Sequence[float] | None) -> TierMenu:
        """The menu with `prices` for all tiers but the last.

        Without prices: those that spread values of 1 + Pareto(1.5), the paper's, evenly over the tiers. Tier q or a
        faster one is then worth its price to the share s = (q + 1)/k of requests, who value priority at s^(−2/3) or
        more, and each tier is worth a k-th of a request's value more than the next.

        Raises
        ------
        MechanismError
            Fewer than 2 tiers, or prices that are negative, rise, or are not one fewer than the tiers.

        >>> TierMenu.of(2, None).prices.round(3).tolist()
        [0.794, 0.0]
        """
        if tiers < 2:
            raise MechanismError(f"2 tiers or more, not {tiers}")
        if prices is None:
            steps = (np.arange(1, tiers) / tiers) ** (-2 / 3) / tiers
            return cls(np.append(np.cumsum(steps[::-1])[::-1], 0.0))
        menu = np.append(np.asarray(prices, dtype=np.float64), 0.0)
        if len(menu) != tiers:
            raise MechanismError(f"{tiers - 1} prices, for all tiers but the last, not {len(prices)}")
        if not (all(map(math.isfinite, prices)) and np.all(np.diff(menu) <= 0)):
            raise MechanismError(f"prices of at least 0 that fall from the fastest tier on, not {list(prices)}")
        return cls(menu)

    @property
    def expected_priority(self) -> FloatArray:
        """(k,) what users expect of each tier."""
        k = len(self.prices)
        expected: FloatArray = 1.0 - (np.arange(k) + 0.5) / k
        return expected

    def choose(self, bids: FloatArray) -> IntArray:
        """(n,) the tier in which each request's bid · expected priority − price is greatest; ties to the slower one.

        >>> TierMenu.of(3, [1.0, 0.25]).choose(np.array([0.5, 1.0, 3.0])).tolist()
        [2, 1, 0]
        """
        utility = bids[:, None] * self.expected_priority - self.prices
        k = len(self.prices)
        choice: IntArray = k - 1 - np.argmax(utility[:, ::-1], axis=1)
        return choice

"""The best a user could have done in hindsight within his budget, from above; regret is measured against it.

Others' bids are what they were. Under a truthful mechanism max_b V − (1+μ)p is attained at b = v/(1+μ) for every
μ ≥ 0, so by weak duality (MATH.md, Budgets)

    OPT(T) ≤ G(μ) = Σ_t [V_t − (1+μ)·p_t](at b = v/(1+μ)) + μγT   for every μ ≥ 0.

G is convex and piecewise linear with slope γT − Σ_t p_t; its minimum is the bound. Every G(μ) is one, so what is
printed never flatters, however exact the minimum is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanism.forest import Forest
from mechanism.prompts import FloatArray
from mechanism.radix_tree import RadixTree

__all__ = ["Hindsight", "HindsightBound", "regret_of"]

#: The multiplier 1/(1 + _MOST_MU) is as good as 0.
_MOST_MU = 1e9
_EVALUATIONS = 60
_EXACT = 1e-12


@dataclass(frozen=True, slots=True)
class HindsightBound:
    """G at its minimum.

    Attributes
    ----------
    mu : the minimising μ; 1/(1+μ) is the fixed multiplier that is best in hindsight.
    terms : (T,) V_t − (1+μ)p_t + μγ of each auction; a prefix sum bounds OPT of that prefix with budget γ each.
    spend : what bidding v/(1+μ) throughout would have cost, money.
    """

    mu: float
    terms: FloatArray
    spend: float

    @property
    def value(self) -> float:
        """The bound on OPT(T), money."""
        return float(self.terms.sum())


class Hindsight:
    """T auctions of one mechanism from the point of view of one user who could bid otherwise.

    Parameters
    ----------
    trees : of every auction; star trees where all permutations are allowed.
    values, bids : per auction (n_t,): what requests are worth, and what all users bid.
    mine : per auction (n_t,) bool, the user's requests.
    """

    def __init__(
        self,
        trees: Sequence[RadixTree],
        values: Sequence[FloatArray],
        bids: Sequence[FloatArray],
        mine: Sequence[npt.NDArray[np.bool_]],
    ) -> None:
        self.num_auctions = len(trees)
        self._with_me = np.array([t for t, own in enumerate(mine) if own.any()], dtype=np.int64)
        kept = self._with_me.tolist()
        self._forest = Forest.of([trees[t] for t in kept]) if kept else None
        if self._forest is not None:
            own = np.concatenate([mine[t] for t in kept])
            self._value = np.where(own, np.concatenate([values[t] for t in kept]), 0.0)
            self._others = np.where(own, 0.0, np.concatenate([bids[t] for t in kept]))
            self._without_me = self._forest.sums(self._others * self._forest.priority(self._others))

    def outcome(self, mu: float) -> tuple[FloatArray, FloatArray]:
        """(T,) V_t and p_t of bidding v/(1+μ): the value obtained and the Clarke payment. O(M + N log N).

        p_t = max_σ W(σ; others' bids) − W(σ(b); others' bids), 0 in auctions without the user's requests.
        """
        value, paid = np.zeros(self.num_auctions), np.zeros(self.num_auctions)
        if self._forest is not None:
            priority = self._forest.priority(self._others + self._value / (1.0 + mu))
            value[self._with_me] = self._forest.sums(self._value * priority)
            left = self._forest.sums(self._others * priority)
            paid[self._with_me] = np.where(self._forest.size > 1, np.maximum(self._without_me - left, 0.0), 0.0)
        return value, paid

    def bound(self, budget: float) -> HindsightBound:
        """The minimum of G for a budget B = γT, money.

        μ = 0 if the truth is within the budget. Else the minimum lies where the slope B − Σp changes sign; tangents at
        both sides meet below it, and their meeting point, or the middle if it is too near an end, is tried next.
        """
        low = self._point(0.0, budget)
        if low.slope >= 0:
            return low.bound
        high = low
        while high.slope < 0 and high.mu < _MOST_MU:
            low, high = high, self._point(2.0 * high.mu + 1.0, budget)
        best = min((low, high), key=lambda point: point.value)
        if high.slope < 0:  # nothing is left to bid with
            return best.bound
        for _ in range(_EVALUATIONS):
            meet = (low.value - high.value + high.slope * high.mu - low.slope * low.mu) / (high.slope - low.slope)
            floor = low.value + low.slope * (meet - low.mu)
            if best.value - floor <= _EXACT * abs(best.value):
                break
            margin = 0.1 * (high.mu - low.mu)
            point = self._point(float(np.clip(meet, low.mu + margin, high.mu - margin)), budget)
            best = min((best, point), key=lambda point: point.value)
            low, high = (point, high) if point.slope < 0 else (low, point)
        return best.bound

    def _point(self, mu: float, budget: float) -> _Point:
        value, paid = self.outcome(mu)
        target = budget / self.num_auctions
        bound = HindsightBound(mu, value - (1.0 + mu) * paid + mu * target, float(paid.sum()))
        return _Point(mu, bound.value, budget - bound.spend, bound)


@dataclass(frozen=True, slots=True)
class _Point:
    """G(μ) and its slope."""

    mu: float
    value: float
    slope: float
    bound: HindsightBound


def regret_of(bound: HindsightBound, utility: FloatArray) -> FloatArray:
    """(T,) cumulative regret: bound minus utility obtained, `utility` (T,) per auction. Its last entry is R(T)."""
    regret: FloatArray = np.cumsum(bound.terms - utility)
    return regret

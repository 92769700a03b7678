"""The state of pacing autobidders during a run, one entry a user, and how it moves (MATH.md, Budgets)."""

from __future__ import annotations

import math

import numpy as np

from mechanism.errors import MechanismError
from mechanism.model import Standing
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Pacer"]

#: Share of a budget that is never bid. It absorbs the rounding of bids, of payments and of their sum in whatever order
#: it is taken, for up to about 10⁶ requests and auctions: so no sum of payments exceeds the budget, not by one unit in
#: the last place.
_RESERVE = 1e-9


class Pacer:
    """The pacing agents of many users; each sees its own values and payments only.

    Attributes
    ----------
    budget : (num_users,) B, money. target : (num_users,) γ = B/T.
    mu : (num_users,) the dual variable before the next auction.
    budget_left : (num_users,) what has not been spent, money.
    auctions : how many were settled, in this period.
    """

    def __init__(self, budget: FloatArray, *, horizon: int, step: float, max_mu: float, renews: bool = False) -> None:
        self.budget, self.target = budget, budget / horizon
        self._horizon, self._max_mu, self._renews = horizon, max_mu, renews
        # η·(γ − p) = (step/√T)·(1 − p/γ): written so, a budget of 0 (nothing is ever bid or paid) needs no case
        self._rate = step / math.sqrt(horizon)
        self._begin()

    def _begin(self) -> None:
        self.mu = np.zeros_like(self.budget)
        self.budget_left = self.budget.copy()
        self.auctions = 0
        self._applied = np.ones_like(self.budget)

    @property
    def multiplier(self) -> FloatArray:
        """(num_users,) α = 1/(1+μ) before the next auction."""
        paced: FloatArray = 1.0 / (1.0 + self.mu)
        return paced

    def bid(self, values: FloatArray, stated_bids: FloatArray, users: IntArray) -> FloatArray:  # noqa: ARG002
        """(n,) b = α·v, scaled down where a user's bids together exceed what he has left.

        A user pays at most Σ b_r x_r ≤ Σ b_r under any rule that charges nobody more than his declared value, and at
        most Σ b_r under posted prices.
        """
        if self._renews and self.auctions == self._horizon:
            self._begin()
        alpha = self.multiplier
        wanted = np.zeros_like(self.budget)
        np.add.at(wanted, users, values * alpha[users])
        allowed = np.maximum(self.budget_left - _RESERVE * self.budget, 0.0)
        scale = np.divide(allowed, wanted, out=np.ones_like(wanted), where=wanted > allowed)
        self._applied = alpha * scale
        return values * self._applied[users]

    def settle(self, users: IntArray, payments: FloatArray) -> Standing:
        """Take note of what `users` (k distinct) pay, and move every μ.

        Raises
        ------
        MechanismError
            A payment exceeds what was left: the payment rule charged more than the bids.
        """
        paid = np.zeros_like(self.budget)
        paid[users] = payments
        self.budget_left = self.budget_left - paid
        self.auctions += 1
        if (self.budget_left < 0).any():
            user = int(np.argmin(self.budget_left))
            raise MechanismError(
                f"pacing: user {user} was charged {paid[user]!r}, {-self.budget_left[user]!r} more than he had left"
            )
        overspent = np.divide(paid, self.target, out=np.ones_like(paid), where=self.target > 0) - 1.0
        self.mu = np.clip(self.mu + self._rate * overspent, 0.0, self._max_mu)
        return Standing(self._applied[users], self.budget_left[users])

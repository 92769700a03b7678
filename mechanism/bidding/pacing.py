"""The pacing autobidder: the paper's Algorithm 3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mechanism.bidding._budgets import Budget, TruthfulFraction, budgets
from mechanism.bidding._pacer import Pacer
from mechanism.errors import MechanismError
from mechanism.model import BiddingSetting

__all__ = ["Pacing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """Scales values by a multiplier that falls when a user spends faster than his budget lasts, and rises when slower.

    The paper's Algorithm 3 as MATH.md reconstructs it: dual variable μ ≥ 0, multiplier α = 1/(1+μ), bids b = α·v,
    target spend γ = B/T an auction; after auction t, μ ← clip(μ − η(γ − p_t), 0, μ_max) with η = step/(γ√T). All T
    auctions count, also those in which the user asks for nothing. The budget is never exceeded, by any amount.

    Attributes
    ----------
    budget : B, money for each user in the whole run; a number, {kind: truthful-fraction, fraction}, {kind: uniform,
        low, high} or {kind: lognormal, median, sigma}.
    step : how fast μ moves, without a unit: overspending one auction's target once moves μ by step/√T.
    horizon : T, the auctions the budget is for; null = all auctions of the run.
    renews : whether everything begins anew, with the full budget, every `horizon` auctions; else what is left after T
        auctions is spent as before.
    max_mu : μ_max; the multiplier never falls below 1/(1 + max_mu).
    """

    budget: Budget
    step: float = 1.0
    horizon: int | None = None
    renews: bool = False
    max_mu: float = 99.0

    keeps_a_budget: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fixed = isinstance(self.budget, int | float)
        if fixed and not 0 <= float(self.budget) < math.inf:  # type: ignore[arg-type]
            raise MechanismError(f"a budget of at least 0, not {self.budget}")
        for name, number in (("step", self.step), ("max_mu", self.max_mu)):
            if not 0 < number < math.inf:
                raise MechanismError(f"a {name} above 0, not {number}")
        if self.horizon is not None and self.horizon < 1:
            raise MechanismError(f"a horizon of at least 1 auction, not {self.horizon}")
        if self.renews and self.horizon is None:
            raise MechanismError("a horizon beside renews: after how many auctions?")

    @property
    def needs(self) -> frozenset[str]:
        """The number of auctions unless the horizon is given, and the truthful spend if budgets are shares of it."""
        needs = {"num_auctions"} if self.horizon is None else set()
        return frozenset(needs | ({"truthful_spend"} if isinstance(self.budget, TruthfulFraction) else set()))

    def start(self, setting: BiddingSetting) -> Pacer:
        """The agents of all users at the start of a run.

        A fraction of the truthful spend is one of the whole run's, also where a `horizon` is given.
        """
        horizon = self.horizon if self.horizon is not None else setting.num_auctions
        if horizon is None:
            raise MechanismError("pacing: a horizon, or the number of auctions, is needed")
        return Pacer(
            budgets(self.budget, setting),
            horizon=max(horizon, 1),
            step=self.step,
            max_mu=self.max_mu,
            renews=self.renews,
        )

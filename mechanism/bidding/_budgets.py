"""How much users may spend in a run: a number, a fraction of what the truth would cost them, or a distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mechanism.errors import MechanismError
from mechanism.model import BiddingSetting
from mechanism.prompts import FloatArray

__all__ = ["Budget", "LognormalBudget", "TruthfulFraction", "UniformBudget", "budgets"]

#: For the checker of scenarios (pydantic): nested blocks are as strict as the rest. Data only, nothing is imported.
_STRICT: dict[str, Any] = {"strict": True, "extra": "forbid", "allow_inf_nan": False}


@dataclass(frozen=True, kw_only=True)
class TruthfulFraction:
    """A fraction of what the user would pay in the whole run if all users bid truthfully.

    Attributes
    ----------
    fraction : a number, or [low, high]: evenly spaced over the users, who are put in random order.
    """

    kind: Literal["truthful-fraction"]
    fraction: float | tuple[float, float]

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        low, high = self.ends
        _check(0 <= low <= high < math.inf, f"fractions 0 ≤ low ≤ high, not [{low}, {high}]")

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest fraction."""
        return self.fraction if isinstance(self.fraction, tuple) else (self.fraction, self.fraction)

    def draw(self, setting: BiddingSetting) -> FloatArray:
        """(num_users,) budgets."""
        if setting.truthful_spend is None:
            raise MechanismError("budget: a fraction of the truthful spend, which was not measured")
        fractions = np.linspace(*self.ends, setting.num_users)
        return setting.rng.permutation(fractions) * setting.truthful_spend


@dataclass(frozen=True, kw_only=True)
class UniformBudget:
    """Drawn uniformly for each user.

    Attributes
    ----------
    low, high : the ends of the interval, money.
    """

    kind: Literal["uniform"]
    low: float
    high: float

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        _check(0 <= self.low <= self.high < math.inf, f"0 ≤ low ≤ high, not [{self.low}, {self.high}]")

    def draw(self, setting: BiddingSetting) -> FloatArray:
        """(num_users,) budgets."""
        return setting.rng.uniform(self.low, self.high, setting.num_users)


@dataclass(frozen=True, kw_only=True)
class LognormalBudget:
    """Drawn for each user as median·exp(sigma·z), z standard normal.

    Attributes
    ----------
    median : half the budgets lie below it, money.
    sigma : standard deviation of the logarithm.
    """

    kind: Literal["lognormal"]
    median: float
    sigma: float

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        _check(0 < self.median < math.inf, f"a median above 0, not {self.median}")
        _check(0 <= self.sigma <= 10, f"a sigma from 0 to 10, not {self.sigma}")

    def draw(self, setting: BiddingSetting) -> FloatArray:
        """(num_users,) budgets."""
        return self.median * np.exp(self.sigma * setting.rng.standard_normal(setting.num_users))


Budget = float | TruthfulFraction | UniformBudget | LognormalBudget


def budgets(budget: Budget, setting: BiddingSetting) -> FloatArray:
    """(num_users,) what each user may spend in the whole run, money."""
    if isinstance(budget, int | float):
        return np.full(setting.num_users, float(budget))
    return budget.draw(setting)


def _check(holds: bool, expected: str) -> None:
    if not holds:
        raise ValueError(expected)

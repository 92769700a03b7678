"""Say a fixed share of what it is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.errors import MechanismError
from mechanism.model import Bidder, BiddingSetting, Standing
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Shading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shading:
    """Bids a fixed multiple of the value of each request.

    Attributes
    ----------
    factor : bid / value; 1 is truthful, less is what pays in a first-price auction.
    """

    factor: float

    keeps_a_budget: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and self.factor >= 0):
            raise MechanismError(f"a factor of at least 0, not {self.factor}")

    def start(self, setting: BiddingSetting) -> Bidder:  # noqa: ARG002 - the protocol's
        """Itself: there is nothing to remember."""
        return self

    def bid(self, values: FloatArray, stated_bids: FloatArray, users: IntArray) -> FloatArray:  # noqa: ARG002
        """(n,) bids = factor · values."""
        return self.factor * values

    def settle(self, users: IntArray, payments: FloatArray) -> Standing:  # noqa: ARG002 - the protocol's
        """Everybody's multiplier is the factor; no budget."""
        return Standing(np.full(len(users), self.factor), np.full(len(users), np.nan))

"""Say what the file says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Bidder, BiddingSetting, Standing
from mechanism.prompts import FloatArray, IntArray

__all__ = ["FromTrace"]


@dataclass(frozen=True, slots=True)
class FromTrace:
    """Bids what was recorded, whatever the request is worth."""

    keeps_a_budget: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()

    def start(self, setting: BiddingSetting) -> Bidder:  # noqa: ARG002 - the protocol's
        """Itself: there is nothing to remember."""
        return self

    def bid(self, values: FloatArray, stated_bids: FloatArray, users: IntArray) -> FloatArray:  # noqa: ARG002
        """(n,) bids = the recorded column."""
        return stated_bids

    def settle(self, users: IntArray, payments: FloatArray) -> Standing:  # noqa: ARG002 - the protocol's
        """Multipliers of 1, whatever was recorded; no budget."""
        return Standing(np.ones(len(users)), np.full(len(users), np.nan))

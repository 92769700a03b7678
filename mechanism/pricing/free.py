"""Nobody pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Free"]


@dataclass(frozen=True, slots=True)
class Free:
    """Zero payments, under any schedule. Truthful only where the schedule is blind to bids."""

    truthful: ClassVar[bool] = False
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:  # noqa: ARG002 - the protocol's
        """Always."""
        return True

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:  # noqa: ARG002 - the protocol's
        """(num_users,) zeros."""
        return np.zeros(auction.num_users)

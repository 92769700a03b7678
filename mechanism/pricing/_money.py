"""Money inside one auction: float64, or exact numbers in `object` arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.model import Auction

__all__ = ["Money", "zeros_like_bids"]

Money = npt.NDArray[Any]  # float64, or object holding Fractions


def zeros_like_bids(auction: Auction) -> Money:
    """(num_users,) zeros that stay exact where the bids are: `Fraction(0)` for Fractions, else 0.0."""
    zeros = np.zeros(auction.num_users, dtype=auction.bids.dtype)
    zeros[:] = 0 * auction.bids[0] if len(auction) else 0
    return zeros

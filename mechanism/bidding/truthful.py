"""Say what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

from mechanism.prompts import FloatArray

__all__ = ["Truthful"]


@dataclass(frozen=True, slots=True)
class Truthful:
    """Bids the value of each request."""

    def bid(self, values: FloatArray, stated_bids: FloatArray) -> FloatArray:  # noqa: ARG002 - the protocol's
        """(n,) bids = values."""
        return values

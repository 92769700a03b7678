"""Say what the file says."""

from __future__ import annotations

from dataclasses import dataclass

from mechanism.prompts import FloatArray

__all__ = ["FromTrace"]


@dataclass(frozen=True, slots=True)
class FromTrace:
    """Bids what was recorded, whatever the request is worth."""

    def bid(self, values: FloatArray, stated_bids: FloatArray) -> FloatArray:  # noqa: ARG002 - the protocol's
        """(n,) bids = the recorded column."""
        return stated_bids

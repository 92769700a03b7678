"""k-LPM: longest prefix match that never forgets the oldest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanism.errors import MechanismError
from mechanism.model import Auction
from mechanism.prompts import IntArray
from mechanism.scheduling._longest_prefix import longest_prefix_order

__all__ = ["KLpm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KLpm:
    """The oldest request, then k − 1 by longest prefix match, then the oldest again, and so on.

    Dexter et al. 2025, "LLM Query Scheduling with Prefix Reuse and Latency Constraints" (arXiv 2502.04677): arrival
    order for k = 1, longest prefix match for k → ∞. Matches are counted as `lpm` counts them.

    Attributes
    ----------
    k : how many requests from one oldest to the next.
    """

    k: int = 2

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"
    reads: ClassVar[frozenset[str]] = frozenset({"resident_tokens"})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise MechanismError(f"a k of at least 1, not {self.k}")

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first; ties by arrival. O(n log n)."""
        return longest_prefix_order(auction, oldest_every=self.k)

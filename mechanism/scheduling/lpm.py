"""SGLang's longest prefix match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from mechanism.model import Auction
from mechanism.prompts import IntArray
from mechanism.scheduling._longest_prefix import longest_prefix_order

__all__ = ["Lpm"]


@dataclass(frozen=True, slots=True)
class Lpm:
    """Always the request that would find most of its prompt in the KV cache, given all that goes before it.

    `--schedule-policy lpm` of SGLang (Zheng et al. 2024, arXiv 2312.07104), decided once a batch: the cache as it is
    when the batch forms, and everything ordered before. Without anything resident it is a depth-first order. The
    server itself looks again before every pass, and leaves the order alone above 128 waiting requests.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"
    reads: ClassVar[frozenset[str]] = frozenset({"resident_tokens"})

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first; ties by arrival. O(n log n)."""
        return longest_prefix_order(auction, oldest_every=None)

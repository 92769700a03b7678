"""Fair shares of tokens: the virtual token counter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["Fair"]


@dataclass(frozen=True, slots=True)
class Fair:
    """Always the earliest request of the user who was served the fewest tokens.

    VTC of Sheng et al. 2024, "Fairness in Serving Large Language Models" (OSDI, arXiv 2401.00588), decided once a
    batch: a user's counter starts at `served_tokens` and grows by the prompt of each of his requests as it is ordered;
    outputs are counted when they are known, by `served_tokens`. Prompt and output tokens weigh the same. A user who
    was idle is not lifted to the least counter of the others: what he was not served counts for him.
    """

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = True
    default_payment: ClassVar[str] = "free"
    reads: ClassVar[frozenset[str]] = frozenset({"served_tokens"})

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices, first served first; equal counters by arrival. O(n log n).

        A counter never falls, so serving the least counter again and again is sorting requests by their user's counter
        just before them. Where prompts have no known length each counts as one token.
        """
        n, users = len(auction), auction.users
        tokens = np.ones(n, dtype=np.int64) if auction.prompt_tokens is None else auction.prompt_tokens
        of_user = np.argsort(users, kind="stable")
        ahead = np.cumsum(tokens[of_user]) - tokens[of_user]
        first = np.searchsorted(users[of_user], users[of_user])
        counter = np.empty(n, dtype=np.int64)
        counter[of_user] = ahead - ahead[first]
        if auction.served_tokens is not None:
            counter += auction.served_tokens[users]
        return np.argsort(counter, kind="stable")

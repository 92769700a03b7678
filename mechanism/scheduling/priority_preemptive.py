"""What a provider gets today by switching on SGLang's priority scheduling and passing the bid on as the priority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mechanism.errors import MechanismError
from mechanism.model import Auction
from mechanism.prompts import FloatArray, IntArray

__all__ = ["PriorityPreemptive"]

#: Above this a float64 no longer holds every integer.
LARGEST = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityPreemptive:
    """No auction: every request goes to the server at once with ⌊bid · scale⌋ as its priority, larger first.

    `--enable-priority-scheduling` of SGLang 0.5.23. The server keeps its queue by (priority, entry); at
    `backend.max_running_requests`, and only there, the first of the queue pushes out running requests whose priorities
    are smaller by more than `threshold`, the smallest first. Who is pushed out waits again, loses the KV cache of his
    output, and is prefilled again with his output so far; the records count it under num_retractions. Neither the
    order nor preemption looks at the cache.

    Because the server's queue does the ordering, the market holds nothing back for this rule: `dispatch.in_flight`
    does not apply to it, and batches only say when requests leave for the server and who is compared with whom.
    vLLM's `--scheduling-policy priority` is not modelled: its direction is the other one, smaller integers first, and
    it preempts the least important running request when KV blocks run out, whoever waits.

    Free by default, because the flag sells nothing: whoever may set the field does best to set it high. With
    `payment: pay-as-bid` users pay for the order inside their batch, which the server need not keep.

    Attributes
    ----------
    scale : bids are multiplied by it, then rounded down to the integer that SGLang takes.
    threshold : priorities must differ by more than this for a running request to be preempted (SGLang's default).
    preempt : false = the queue is ordered by priority and nobody is preempted (--disable-priority-preemption).
    """

    scale: float = 10.0
    threshold: int = 10
    preempt: bool = True

    domain: ClassVar[Literal["dfs", "permutations"] | None] = None
    bid_blind: ClassVar[bool] = False
    default_payment: ClassVar[str] = "free"

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise MechanismError(f"a scale above 0, not {self.scale}")
        if self.threshold < 0:
            raise MechanismError(f"a threshold of at least 0, not {self.threshold}")

    @property
    def preempts_above(self) -> int | None:
        """The difference above which a running request is preempted; None = never."""
        return self.threshold if self.preempt else None

    def priorities(self, bids: FloatArray) -> IntArray:
        """(n,) what each request asks of the server, larger first.

        >>> PriorityPreemptive(scale=10.0).priorities(np.array([0.0, 1.26, 3.0])).tolist()
        [0, 12, 30]
        """
        with np.errstate(over="ignore"):
            scaled = np.floor(bids * self.scale)
        return np.minimum(scaled, LARGEST).astype(np.int64)

    def order(self, auction: Auction) -> IntArray:
        """(n,) request indices by priority, equal ones by arrival: the server's order if all wait. O(n log n)."""
        return np.argsort(-self.priorities(auction.bids), kind="stable")

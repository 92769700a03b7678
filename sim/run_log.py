"""What one mechanism's run on one trial leaves behind, as columns: the raw material of records and metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechanism.model import Standing
from mechanism.prompts import FloatArray, IntArray
from sim.backend import EngineSteps, Served, Status

__all__ = ["AuctionLog", "RunLog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionLog:
    """One auction: when it was formed, what it decided, who pays.

    `batch` are table indices in order of arrival, `members` the same in schedule order; the user columns are aligned
    with `users` (indices into `RequestTable.user_names`); `real_ms` is the time clearing it took, where the run's clock
    is the real one.
    """

    formed_ns: int
    batch: IntArray
    members: IntArray
    tree_nodes: int
    scheduled_welfare: float
    declared_welfare: float
    users: IntArray
    user_requests: IntArray
    user_declared: FloatArray
    user_obtained: FloatArray
    user_payment: FloatArray
    user_standing: Standing
    real_ms: float | None = None


@dataclass(slots=True, kw_only=True)
class RunLog:
    """Per-request columns by table index (None or NaN = never happened), the auctions, and the engine's steps.

    Attributes
    ----------
    arrival_ns, dispatch_ns, admitted_ns, first_token_ns, finish_ns : ns of the run's clock.
    cached_tokens : None when the server did not say, or the request never got that far.
    batch, position : which auction, and the place in its schedule from 0; −1 before any auction.
    bid, priority, payment : (n,) floats, NaN before any auction.
    output_ids : the tokens a live server generated; None where it was a simulation, or nothing came.
    computed_ns : when the engine had a first token; requests of one pass have it at one instant. Not in the records.
    auction_s : wall time spent in auctions, s (kept out of the records, which are equal for equal seeds).
    """

    arrival_ns: list[int | None]
    dispatch_ns: list[int | None]
    admitted_ns: list[int | None]
    first_token_ns: list[int | None]
    finish_ns: list[int | None]
    cached_tokens: list[int | None]
    output_tokens: list[int]
    num_retractions: list[int]
    status: list[Status]
    error: list[str | None]
    output_ids: list[tuple[int, ...] | None]
    computed_ns: list[int | None]
    batch: IntArray
    position: IntArray
    bid: FloatArray
    priority: FloatArray
    payment: FloatArray
    auctions: list[AuctionLog] = field(default_factory=list)
    engine_steps: EngineSteps = field(default_factory=list)
    auction_s: float = 0.0

    @classmethod
    def of(cls, n: int) -> RunLog:
        """An empty log of n requests, all `incomplete`."""
        return cls(
            arrival_ns=[None] * n,
            dispatch_ns=[None] * n,
            admitted_ns=[None] * n,
            first_token_ns=[None] * n,
            finish_ns=[None] * n,
            cached_tokens=[None] * n,
            output_tokens=[0] * n,
            num_retractions=[0] * n,
            status=["incomplete"] * n,
            error=[None] * n,
            output_ids=[None] * n,
            computed_ns=[None] * n,
            batch=np.full(n, -1, dtype=np.int64),
            position=np.full(n, -1, dtype=np.int64),
            bid=np.full(n, np.nan),
            priority=np.full(n, np.nan),
            payment=np.full(n, np.nan),
        )

    def record(self, served: Served) -> None:
        """Enter what became of one request."""
        index = served.index
        if served.sent_ns is not None:
            self.dispatch_ns[index] = served.sent_ns
        self.status[index], self.error[index] = served.status, served.error
        self.admitted_ns[index] = served.admitted_ns
        self.first_token_ns[index] = served.first_token_ns
        self.finish_ns[index] = served.finish_ns
        self.cached_tokens[index] = served.cached_tokens
        self.output_tokens[index] = served.output_tokens
        self.num_retractions[index] = served.num_retractions
        self.output_ids[index] = served.output_ids
        self.computed_ns[index] = served.computed_ns

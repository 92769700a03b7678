"""One auction after another, without a clock: what users say, who goes first, who pays, and what is written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from mechanism import welfare
from mechanism.clearing import clear, request_payments
from mechanism.model import Auction, Bidder, LooksBack, Outcome, PricingRule, SchedulingRule
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree, build_tree
from sim.backend import CacheView, Served
from sim.requests import RequestTable
from sim.run_log import AuctionLog, RunLog

__all__ = ["Auctioneer", "TreeCache"]


@dataclass(slots=True)
class TreeCache:
    """Radix trees of batches already seen in a trial: saturated mechanisms form the same batches."""

    trees: dict[bytes, RadixTree] = field(default_factory=dict)

    def tree(self, requests: RequestTable, batch: IntArray) -> RadixTree:
        """The tree of `batch`; built once."""
        key = batch.tobytes()
        if key not in self.trees:
            self.trees[key] = build_tree(requests.prompts.take(batch))
        return self.trees[key]


class Auctioneer:
    """Holds the auctions of one mechanism on one trial's requests, and writes them to a log.

    Parameters
    ----------
    bidder : who bids for the users; it is told after every auction what they pay.
    cache : what the KV cache holds, where the backend can say; only rules that read it are told.

    Attributes
    ----------
    served_tokens : (number of users) prompt and output tokens of each user's completed requests.
    """

    def __init__(
        self,
        requests: RequestTable,
        schedule: SchedulingRule,
        pricing: PricingRule,
        bidder: Bidder,
        trees: TreeCache,
        log: RunLog,
        cache: CacheView | None = None,
    ) -> None:
        self._requests, self._schedule, self._pricing = requests, schedule, pricing
        self._bidder, self._trees, self._log = bidder, trees, log
        wanted = isinstance(schedule, LooksBack) and "resident_tokens" in schedule.reads
        self._cache = cache if wanted else None
        self.served_tokens = np.zeros(len(requests.user_names), dtype=np.int64)

    def hold(self, batch: IntArray, now_ns: int, *, real_time: bool = False) -> IntArray:
        """Clear one auction over `batch` and log it; returns table indices in schedule order.

        `real_time`: the run's clock is the real one, so the time clearing takes is part of the records.
        """
        started, requests, log = perf_counter(), self._requests, self._log
        values = requests.value[batch]
        bids = self._bidder.bid(values, requests.stated_bid[batch], requests.user[batch])
        users, dense = np.unique(requests.user[batch], return_inverse=True)
        auction = self._auction(batch, bids, users, dense)
        outcome = clear(auction, self._schedule, self._pricing)
        priority = welfare.priority(outcome.order)
        members: IntArray = batch[outcome.order]
        log.batch[batch] = len(log.auctions)
        log.position[members] = np.arange(len(batch))
        log.bid[batch], log.priority[batch] = bids, priority
        log.payment[batch] = request_payments(auction, outcome)
        took_s = perf_counter() - started
        log.auction_s += took_s
        real_ms = took_s * 1e3 if real_time else None
        log.auctions.append(self._entry(auction, batch, users, outcome, now_ns, real_ms))
        return members

    def note(self, served: Served) -> None:
        """Count the tokens of a request that was served."""
        if served.status == "ok":
            index = served.index
            tokens = int(self._requests.prompt_tokens[index]) + served.output_tokens
            self.served_tokens[self._requests.user[index]] += tokens

    def _auction(self, batch: IntArray, bids: FloatArray, users: IntArray, dense: IntArray) -> Auction:
        return Auction(
            tree=self._trees.tree(self._requests, batch),
            bids=bids,
            users=dense,
            num_users=len(users),
            prompt_tokens=self._requests.prompt_tokens[batch],
            resident_tokens=None if self._cache is None else self._cache.resident_tokens(batch.tolist()),
            served_tokens=self.served_tokens[users],
        )

    def _entry(
        self,
        auction: Auction,
        batch: IntArray,
        users: IntArray,
        outcome: Outcome,
        now_ns: int,
        real_ms: float | None,
    ) -> AuctionLog:
        priority, dense = welfare.priority(outcome.order), auction.users
        values = self._requests.value[batch]

        def per_user(amounts: FloatArray) -> FloatArray:
            return np.bincount(dense, amounts, len(users)).astype(np.float64)

        return AuctionLog(
            formed_ns=now_ns,
            batch=batch,
            members=batch[outcome.order],
            tree_nodes=auction.tree.num_nodes,
            scheduled_welfare=float(values @ priority),
            declared_welfare=float(auction.bids @ priority),
            users=users,
            user_requests=np.bincount(dense, minlength=len(users)),
            user_declared=per_user(auction.bids * priority),
            user_obtained=per_user(values * priority),
            user_payment=outcome.payments,
            user_standing=self._bidder.settle(users, outcome.payments),
            real_ms=real_ms,
        )

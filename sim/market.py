"""The market's clock: arrivals → waiting → batch → bids → auction → dispatch, as SimPy processes.

Written once for every backend. One auction at a time: when the previous batch is wholly dispatched, the first
`size` waiting requests by (arrival, file order) form the next one as soon as that many wait, or the oldest has
waited `max_wait_s`, or no arrivals remain. A request holds one of the `in_flight` places from submit to finish: an
auction over requests the engine already queued would be no auction, so the market holds the rest back. Where the
engine's queue is the mechanism (`SetsPriorities`) there is none, and a batch goes to it whole, with its priorities.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import simpy
from simpy.rt import RealtimeEnvironment

from mechanism.model import Bidder, PricingRule, SchedulingRule, SetsPriorities
from sim.arrival_process import arrival_process
from sim.arrivals import ClosedLoop
from sim.auctioneer import Auctioneer, TreeCache
from sim.backend import Backend, CacheView, PriorityQueue, Served
from sim.clock import Kind, after, trigger
from sim.errors import InvariantError
from sim.requests import RequestTable
from sim.run_log import RunLog

__all__ = ["Market", "MarketRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketRules:
    """How one mechanism of a run works: who goes first, who pays what, who says what, and when.

    `bidding` makes the bidder of a run, given which of its requests (n,) are refused on arrival. `in_flight` None = no
    limit; `closed_loop` None = arrivals come from the request table.
    """

    schedule: SchedulingRule
    pricing: PricingRule
    bidding: Callable[[npt.NDArray[np.bool_]], Bidder]
    batch_size: int
    max_wait_ns: int
    in_flight: int | None
    closed_loop: ClosedLoop | None = None


class Market:
    """One run of one mechanism on one trial's requests.

    `run` starts the backend, lets the clock run until every request has left, and returns the log. Raises
    InvariantError when requests remain and nothing can happen any more; a KeyboardInterrupt passes through with
    `log` holding what happened so far.
    """

    def __init__(
        self,
        env: simpy.Environment,
        requests: RequestTable,
        backend: Backend,
        rules: MarketRules,
        trees: TreeCache,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.log = RunLog.of(len(requests))
        self._env, self._requests, self._backend, self._rules = env, requests, backend, rules
        self._trees, self._progress = trees, progress
        self._waiting: deque[int] = deque()
        self._to_arrive = len(requests)
        self._num_in_flight = 0
        self._num_left = 0
        self._gone = simpy.Event(env)
        self._batch_wanted: simpy.Event | None = None
        self._deadline_set = False
        self._place_wanted: simpy.Event | None = None
        self._arrivals = arrival_process(env, requests, rules.closed_loop, self._arrive)

    def run(self) -> RunLog:
        """Serve every request; the log is complete afterwards."""
        env, requests = self._env, self._requests
        self._arrange_queue()
        try:
            self._backend.start(env, self._on_served)
            self._refused = self._backend.limits.refused(requests.prompt_tokens, requests.output_tokens)
            if requests.refused is not None:
                self._refused = self._refused | requests.refused
            self._auctioneer = self._hire()
            env.process(self._arrivals.run())
            env.process(self._auctions())
            env.run(until=self._gone)
        except RuntimeError as error:
            if self._gone.triggered or "until" not in str(error):
                raise
            left = len(requests) - self._num_left
            raise InvariantError(
                f"no progress at {int(env.now) / 1e9:.3f} s: {left} of {len(requests)} requests have not left, "
                f"{len(self._waiting)} wait for an auction, {self._num_in_flight} are inside the engine, "
                "and nothing will happen any more. Please report this scenario."
            ) from error
        finally:
            self.log.engine_steps = self._backend.engine_steps
            self._backend.close()
        return self.log

    def _hire(self) -> Auctioneer:
        rules, backend = self._rules, self._backend
        bidder = rules.bidding(self._refused)
        cache = backend if isinstance(backend, CacheView) else None
        return Auctioneer(self._requests, rules.schedule, rules.pricing, bidder, self._trees, self.log, cache)

    def _arrange_queue(self) -> None:
        """Leave the order to the server's own queue, where that is the mechanism."""
        rule, backend = self._rules.schedule, self._backend
        self._priorities: tuple[SetsPriorities, PriorityQueue] | None = None
        if isinstance(rule, SetsPriorities):
            if not isinstance(backend, PriorityQueue):
                raise InvariantError(f"{type(rule).__name__}: {type(backend).__name__} takes no priorities.")
            backend.order_by_priority(rule.preempts_above)
            self._priorities = rule, backend

    # ---- arrivals

    def _arrive(self, indices: Sequence[int]) -> None:
        now = int(self._env.now)
        self._to_arrive -= len(indices)
        for index in indices:
            self.log.arrival_ns[index] = now
            if self._refused[index]:
                self._reject(index)
            else:
                self._waiting.append(index)
        self._wake_auctioneer()

    def _reject(self, index: int) -> None:
        prompt, output = int(self._requests.prompt_tokens[index]), int(self._requests.output_tokens[index])
        if self._requests.refused is not None and self._requests.refused[index]:
            reason = f"the prompt of {prompt} tokens is longer than the workload's max_prompt_tokens"
        else:
            reason = self._backend.limits.refusal(prompt, output)
        self._leave(Served(index=index, status="rejected", error=reason))

    # ---- auctions

    def _ready(self) -> bool:
        if not self._waiting:
            return False
        if len(self._waiting) >= self._rules.batch_size or self._to_arrive == 0:
            return True
        return int(self._env.now) >= self._deadline_ns()

    def _deadline_ns(self) -> int:
        oldest = self.log.arrival_ns[self._waiting[0]]
        assert oldest is not None
        return oldest + self._rules.max_wait_ns

    def _wake_auctioneer(self) -> None:
        """Call after an arrival: form the batch now if it is due, else when the oldest has waited long enough."""
        wake = self._batch_wanted
        if wake is None or not self._waiting:
            return
        if self._ready():
            self._batch_wanted = None
            trigger(wake, Kind.DISPATCH)
        elif not self._deadline_set:
            self._set_deadline(wake)

    def _set_deadline(self, wake: simpy.Event) -> None:
        def due(_: simpy.Event) -> None:
            if self._batch_wanted is wake:
                self._batch_wanted = None
                trigger(wake, Kind.DISPATCH)

        self._deadline_set = True
        timer = after(self._env, self._deadline_ns() - int(self._env.now), Kind.DEADLINE)
        assert timer.callbacks is not None
        timer.callbacks.append(due)

    def _auctions(self) -> Generator[simpy.Event, Any, None]:
        while True:
            if not self._ready():
                wake = self._batch_wanted = simpy.Event(self._env)
                self._deadline_set = False
                self._wake_auctioneer()
                yield wake
            size = min(self._rules.batch_size, len(self._waiting))
            batch = np.array([self._waiting.popleft() for _ in range(size)], dtype=np.int64)
            real_time = isinstance(self._env, RealtimeEnvironment)
            members = self._auctioneer.hold(batch, int(self._env.now), real_time=real_time)
            yield from self._dispatch(members.tolist())

    # ---- dispatch

    def _dispatch(self, order: list[int]) -> Generator[simpy.Event, Any, None]:
        """Submit in schedule order, as many at a time as there are free places."""
        limit = self._rules.in_flight
        if self._priorities is not None:
            rule, queue = self._priorities
            queue.prioritise(order, rule.priorities(self.log.bid[order]))
            limit = None  # the server's queue decides who goes first, so it must see them all
        while order:
            free = len(order) if limit is None else limit - self._num_in_flight
            if free == 0:
                self._place_wanted = simpy.Event(self._env)
                yield self._place_wanted
                continue
            now, chunk, order = int(self._env.now), order[:free], order[free:]
            for index in chunk:
                self.log.dispatch_ns[index] = now
            self._num_in_flight += len(chunk)
            self._backend.submit(chunk)

    def _on_served(self, served: Served) -> None:
        self._num_in_flight -= 1
        if self._place_wanted is not None:
            trigger(self._place_wanted, Kind.DISPATCH)
            self._place_wanted = None
        self._auctioneer.note(served)
        self._leave(served)

    def _leave(self, served: Served) -> None:
        self.log.record(served)
        self._num_left += 1
        self._progress(self._num_left)
        self._arrivals.left(served.index)
        if self._num_left == len(self._requests):
            self._gone.succeed()

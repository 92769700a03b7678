"""What tests of the market's clock stand on: a server with a fixed service time, and small request tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import simpy

from mechanism.bidding.from_trace import FromTrace
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import Prompts
from mechanism.scheduling.bid_sort import BidSort
from sim.arrivals import ClosedLoop
from sim.auctioneer import TreeCache
from sim.backend import EngineSteps, Limits, Served
from sim.clock import Kind, after
from sim.market import Market, MarketRules
from sim.requests import RequestTable
from sim.run_log import RunLog


class FixedServer:
    """Serves requests one after another, `service_ns` each; the first token comes with the last."""

    def __init__(self, service_ns: int, limits: Limits | None = None, fail: Sequence[int] = ()) -> None:
        self.limits = limits or Limits()
        self.engine_steps: EngineSteps = []
        self.submitted: list[tuple[int, tuple[int, ...]]] = []
        self._service_ns, self._fail = service_ns, set(fail)
        self._free_at = 0

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        self._env, self._on_event = env, on_event

    def submit(self, requests: Sequence[int]) -> None:
        now = int(self._env.now)
        self.submitted.append((now, tuple(requests)))
        for index in requests:
            start = max(now, self._free_at)
            self._free_at = start + self._service_ns
            self._env.process(self._serve(index, start, self._free_at - now))

    def _serve(self, index: int, start: int, delay: int) -> Any:
        yield after(self._env, delay, Kind.PASS)
        if index in self._fail:
            self._on_event(Served(index=index, status="error", admitted_ns=start, error="broken"))
            return
        now = int(self._env.now)
        self._on_event(
            Served(
                index=index, status="ok", admitted_ns=start, first_token_ns=now, finish_ns=now, cached_tokens=0,
                output_tokens=1,
            )
        )  # fmt: skip

    def close(self) -> None:
        self.closed = True


def table(
    arrival_ns: Sequence[int],
    bids: Sequence[float],
    *,
    users: Sequence[int] | None = None,
    prompts: Prompts | None = None,
    output_tokens: int = 1,
) -> RequestTable:
    n = len(arrival_ns)
    owners = np.arange(n) if users is None else np.array(users)
    prompts = prompts or Prompts.from_lists([[r + 1] for r in range(n)])
    return RequestTable(
        request_id=tuple(map(str, range(n))),
        prompts=prompts,
        prompt_tokens=prompts.num_tokens,
        output_tokens=np.full(n, output_tokens),
        output_ids=None,
        output_recorded=None,
        session=None,
        turn=None,
        cluster=np.arange(n),
        arrival_ns=np.array(arrival_ns, dtype=np.int64),
        user=owners,
        user_names=tuple(f"u{u}" for u in range(owners.max() + 1)),
        value=np.array(bids, dtype=np.float64),
        stated_bid=np.array(bids, dtype=np.float64),
    )


def run_market(
    requests: RequestTable,
    backend: Any,
    *,
    size: int = 256,
    max_wait_ns: int = 10**18,
    in_flight: int | None = 1,
    closed_loop: ClosedLoop | None = None,
    schedule: Any = None,
    pricing: Any = None,
    bidder: Any = None,
) -> RunLog:
    rules = MarketRules(
        schedule=schedule or BidSort(),
        pricing=pricing or Vcg(),
        bidding=lambda _: bidder or FromTrace(),
        batch_size=size,
        max_wait_ns=max_wait_ns,
        in_flight=in_flight,
        closed_loop=closed_loop,
    )
    return Market(simpy.Environment(), requests, backend, rules, TreeCache()).run()  # type: ignore[arg-type]

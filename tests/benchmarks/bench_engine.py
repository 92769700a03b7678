"""What the engine alone costs a request: all its passes, with constant step times and no market around it.

CPU microseconds a request at 1,000 prompt and 64 output tokens; half of the whole product's budget of 200 µs is the
bar. "in flight" keeps so many requests inside a cache that holds 23 of them; "arrivals" come by a Poisson process to
a large one.
"""

from __future__ import annotations

import time

import numpy as np
from _bench import BenchRow

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig, Pass
from sim.requests import RequestTable

NUM_REQUESTS, PREFIX, QUESTION, OUTPUT = 20_000, 900, 100, 64
BAR_US = 100.0
PREFILL_NS, DECODE_NS = 60_000_000, 15_000_000


def star_table() -> RequestTable:
    """Requests in random order, 16 to a shared prefix."""
    rng, n = np.random.default_rng(0), NUM_REQUESTS
    prefixes = rng.integers(0, 30_000, (n // 16, PREFIX), dtype=np.int32)
    questions = rng.integers(0, 30_000, (n, QUESTION), dtype=np.int32)
    star = rng.permutation(np.repeat(np.arange(n // 16), 16))
    prompts = Prompts(np.hstack([prefixes[star], questions]).reshape(-1), np.arange(n + 1) * (PREFIX + QUESTION))
    return RequestTable(
        request_id=tuple(map(str, range(n))),
        prompts=prompts,
        prompt_tokens=prompts.num_tokens,
        output_tokens=np.full(n, OUTPUT),
        output_ids=None,
        output_recorded=None,
        session=None,
        turn=None,
        cluster=star,
        arrival_ns=np.zeros(n, np.int64),
        user=np.zeros(n, np.int64),
        user_names=("bench",),
        value=np.ones(n),
        stated_bid=np.ones(n),
    )


class Clock:
    """A driver with overlap that knows when passes end: arrivals at given times, or one for every finish."""

    def __init__(self, engine: Engine, arrival_ns: list[int] | None, in_flight: int) -> None:
        self.engine, self.arrival_ns = engine, arrival_ns
        self.now = self.sent = self.done = 0
        if arrival_ns is None:
            self.send(in_flight)

    def send(self, count: int) -> None:
        for index in range(self.sent, min(self.sent + count, NUM_REQUESTS)):
            self.engine.enqueue(index)
            self.sent = index + 1

    def arrive(self) -> None:
        while self.arrival_ns and self.sent < NUM_REQUESTS and self.arrival_ns[self.sent] <= self.now:
            self.send(1)

    def jump(self, batch: Pass) -> Pass:
        steps = self.engine.horizon(batch)
        if self.arrival_ns and self.engine.accepting and self.sent < NUM_REQUESTS:
            steps = min(steps, max(0, (self.arrival_ns[self.sent] - self.now) // DECODE_NS))
        if steps <= 0:
            return batch
        self.now += steps * DECODE_NS
        return self.engine.advance(batch, steps)

    def run(self) -> None:
        pending: Pass | None = None
        while self.done < NUM_REQUESTS:
            self.arrive()
            batch = self.engine.schedule()
            due, pending = pending, batch
            if due is not None:
                self.now += PREFILL_NS if due.kind == "prefill" else DECODE_NS
                finished = len(self.engine.complete(due).finished)
                self.done += finished
                if self.arrival_ns is None:
                    self.send(finished)
            elif batch is None and self.arrival_ns:
                self.now = max(self.now, self.arrival_ns[self.sent])
            if pending is not None:
                pending = self.jump(pending)


def microseconds(config: EngineConfig, requests: RequestTable, arrival_ns: list[int] | None, in_flight: int) -> float:
    """CPU time a request of one whole run, set-up included."""
    start = time.process_time()
    Clock(Engine(config, requests), arrival_ns, in_flight).run()
    return (time.process_time() - start) / NUM_REQUESTS * 1e6


def rows() -> list[BenchRow]:
    """One row a regime, for the default version and the older one."""
    requests = star_table()
    gaps = np.random.default_rng(1).exponential(1e9 / 12, NUM_REQUESTS)
    arrivals: list[int] = np.cumsum(gaps).astype(np.int64).tolist()
    small, large = EngineConfig(kv_tokens=23_000), EngineConfig(kv_tokens=400_000)
    regimes: list[tuple[str, EngineConfig, list[int] | None]] = [
        ("16 in flight, 23k tokens", small, None),
        ("16 in flight, 23k tokens, 0.5.9", EngineConfig(kv_tokens=23_000, engine="0.5.9"), None),
        ("16 in flight, 23k tokens, pages of 16", EngineConfig(kv_tokens=23_000, page_tokens=16), None),
        ("Poisson 12/s, 400k tokens", large, arrivals),
    ]
    return [
        BenchRow(f"engine, {name}", f"{spent:.0f} µs a request", f"≤ {BAR_US:.0f} µs", spent <= BAR_US)
        for name, config, arrival_ns in regimes
        for spent in [microseconds(config, requests, arrival_ns, 16)]
    ]


if __name__ == "__main__":
    for row in rows():
        print(row)

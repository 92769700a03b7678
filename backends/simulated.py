"""The simulated server: SGLang's decisions from `sim.engine`, their duration from a latency profile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import simpy
from pydantic import Field

from backends._front_end import FrontEnd
from backends._profile import load_profile
from mechanism.prompts import IntArray
from sim.backend import EngineSteps, Limits, Notes, Served
from sim.clock import Kind, after, trigger
from sim.engine import Engine, EngineConfig, Pass
from sim.errors import ScenarioError
from sim.latency import LatencyModel
from sim.quantities import Count
from sim.requests import RequestTable
from sim.schedule_policy import check_priorities

__all__ = ["Simulated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A simulated SGLang server.

    Attributes
    ----------
    profile : a name in backends/profiles/ or a path to a profile written by `calibrate`.
    kv_tokens : capacity of the KV cache, tokens; null = unbounded, absent = the profile's.
    engine : whose scheduling and cache rules, "0.5.9" or "0.5.23".
    overlap : overlap scheduling, the server's default.
    page_tokens : tokens per KV page.
    eviction : lru, fifo, mru, filo, lfu, priority.
    chunked_prefill_tokens : longest prefill of one pass; null = no chunking.
    max_prefill_tokens : prefill tokens admitted into one pass.
    max_running_requests : requests running at once; null = no limit.
    schedule_conservativeness : scales the share of unused output reserved at admission.
    schedule_policy : fcfs, lpm, dfs-weight, lof.
    context_tokens : longest prompt + output of the model; null = no limit.
    blocking : the host computes the passes itself, as a CPU server does: with overlap, what a pass gave is handed out
        only when the next one is done.
    """

    profile: str = "h100-qwen3-32b"
    kv_tokens: Count | Literal["profile"] | None = "profile"
    engine: Literal["0.5.9", "0.5.23"] = "0.5.23"
    overlap: bool = True
    page_tokens: Count = 1
    eviction: Literal["lru", "fifo", "mru", "filo", "lfu", "priority"] = "lru"
    chunked_prefill_tokens: Count | None = 8192
    max_prefill_tokens: Count = 16384
    max_running_requests: Count | None = None
    schedule_conservativeness: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    schedule_policy: Literal["fcfs", "lpm", "dfs-weight", "lof"] = "fcfs"
    context_tokens: Count | None = None
    blocking: bool = False

    def __post_init__(self) -> None:
        load_profile(self.profile)
        chunk, page = self.chunked_prefill_tokens, self.page_tokens
        if chunk is not None and chunk % page:
            raise ScenarioError("chunked_prefill_tokens", str(chunk), f"a multiple of page_tokens, {page}, or null")

    def limits(self) -> Limits:
        """What fits on this server."""
        kv_tokens = load_profile(self.profile).kv_tokens if self.kv_tokens == "profile" else self.kv_tokens
        return Limits(kv_tokens=kv_tokens, page_tokens=self.page_tokens, context_tokens=self.context_tokens)

    def check_priorities(self) -> None:
        """ScenarioError unless this server can schedule by priority (see `sim.backend.TakesPriorities`)."""
        check_priorities(self.engine, self.schedule_policy)

    def card(self) -> dict[str, Any]:
        """The profile as its file says it, for the run's manifest."""
        return load_profile(self.profile).card

    def open(self) -> AbstractContextManager[Simulated]:
        """Simulated servers need nothing that outlives them."""
        return nullcontext(self)

    def environment(self) -> simpy.Environment:
        """Simulated time."""
        return simpy.Environment()

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> SimulatedBackend:  # noqa: ARG002
        """A fresh server: empty cache, nothing running."""
        limits = self.limits()
        config = EngineConfig(
            engine=self.engine,
            overlap=self.overlap,
            kv_tokens=limits.kv_tokens,
            page_tokens=self.page_tokens,
            eviction=self.eviction,
            chunked_prefill_tokens=self.chunked_prefill_tokens,
            max_prefill_tokens=self.max_prefill_tokens,
            max_running_requests=self.max_running_requests,
            schedule_conservativeness=self.schedule_conservativeness,
            schedule_policy=self.schedule_policy,
            context_tokens=self.context_tokens,
        )
        return SimulatedBackend(config, requests, load_profile(self.profile).latency, limits, blocking=self.blocking)


@dataclass(frozen=True, slots=True)
class _Launched:
    """A pass on the accelerator: what it is, when it starts and when its result is there (ns)."""

    batch: Pass
    start_ns: int
    end_ns: int


class SimulatedBackend:
    """One server of one run, as a SimPy process around the engine (see `sim.backend.Backend`).

    The engine plans, the latency model says how long, this class keeps the clock. Equal decode passes are jumped
    over at once; an arrival that could change the next plan cuts the jump at the next pass boundary. With overlap
    the plan for pass t + 1 is made when the result of pass t − 1 is in, while pass t still runs.
    """

    def __init__(
        self,
        config: EngineConfig,
        requests: RequestTable,
        latency: LatencyModel,
        limits: Limits,
        *,
        blocking: bool = False,
    ) -> None:
        self.limits = limits
        self.engine_steps: EngineSteps = []
        self.notes = Notes()
        self._config, self._requests, self._latency, self._overlap = config, requests, latency, config.overlap
        self._blocking = blocking and config.overlap
        self._priority: dict[int, int] = {}
        self._inbox: list[int] = []
        self._idle: simpy.Event | None = None
        self._interruptible = False
        self._free_at_ns = 0
        self._admitted_ns: dict[int, int] = {}
        self._first_token_ns: dict[int, int] = {}
        self._computed_ns: dict[int, int] = {}

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        """Start the server's process."""
        self._env, self._front_end = env, FrontEnd(env, self._latency, on_event)
        self._engine = Engine(self._config, self._requests)
        self._process = env.process(self._serve())

    def order_by_priority(self, preempts_above: int | None) -> None:
        """Become a server with priority scheduling (see `sim.backend.PriorityQueue`)."""
        self._config = replace(self._config, priority_scheduling=True, preemption_threshold=preempts_above)

    def prioritise(self, requests: Sequence[int], priorities: IntArray) -> None:
        """(k,) the priorities of requests that will be submitted, larger first."""
        self._priority.update(zip(requests, priorities.tolist(), strict=True))

    def submit(self, requests: Sequence[int]) -> None:
        """Queue requests; the engine sees them at its next pass."""
        self._inbox.extend(requests)
        if self._idle is not None:
            trigger(self._idle, Kind.PASS)
            self._idle = None
        elif self._interruptible and (self._engine.accepting or not self._engine.waiting):
            self._interruptible = False
            self._process.interrupt()

    def close(self) -> None:
        """Nothing outlives the run."""

    def resident_tokens(self, requests: Sequence[int]) -> IntArray:
        """(k,) leading prompt tokens of each request that a prefill now would find in the cache; changes nothing."""
        cache, page = self._engine.memory.cache, self._engine.memory.page
        limits = [self._engine.prompt_tokens[index] - 1 for index in requests]  # the last token is always computed
        found = [cache.match_tokens(i, limit - limit % page) for i, limit in zip(requests, limits, strict=True)]
        return np.array(found, dtype=np.int64)

    def _serve(self) -> Generator[simpy.Event, Any, None]:
        pending: _Launched | None = None
        while True:
            launched = self._plan()
            if launched is not None and self._blocking:
                yield after(self._env, launched.end_ns - int(self._env.now), Kind.PASS)
            due, pending = (pending, launched) if self._overlap else (launched, None)
            if due is not None:
                yield from self._result(due)
            elif pending is None:
                self._idle = simpy.Event(self._env)
                yield self._idle
            if pending is not None and not self._blocking:
                pending = yield from self._jump_ahead(pending)

    def _plan(self) -> _Launched | None:
        """One scheduling pass now; its work starts as soon as the accelerator is free."""
        for index in self._inbox:
            self._engine.enqueue(index, self._priority.pop(index, 0))
        self._inbox.clear()
        batch = self._engine.schedule()
        if batch is None:
            return None
        now = int(self._env.now)
        for index in batch.admitted:
            self._admitted_ns.setdefault(index, now)
        if batch.kind == "prefill":
            duration = self._latency.prefill_ns(batch.new_tokens, batch.attention_work)
        else:
            duration = self._latency.decode_ns(len(batch.members), batch.context_tokens)
        start = max(now, self._free_at_ns)
        self._free_at_ns = start + duration
        return _Launched(batch, start, self._free_at_ns)

    def _result(self, due: _Launched) -> Generator[simpy.Event, Any, None]:
        """Wait for a pass, and for all decode passes that repeat it where nothing overlaps; then hand out results."""
        steps = 1
        if due.batch.kind == "decode" and not self._overlap:
            horizon = self._engine.horizon(due.batch)
            if horizon > 0:
                steps = yield from self._elapse(due, horizon + 1)
                batch = self._engine.advance(due.batch, steps - 1) if steps > 1 else due.batch
                due = _Launched(batch, due.start_ns, int(self._env.now))
        if due.end_ns > self._env.now:
            yield after(self._env, due.end_ns - int(self._env.now), Kind.PASS)
        self._log(due, steps, due.end_ns)
        done = self._engine.complete(due.batch)
        for index in done.first_tokens:
            if index not in self._first_token_ns:
                self._first_token_ns[index] = self._front_end.next_ns()
                self._computed_ns[index] = int(self._env.now)
        first = set(done.first_tokens)
        for index in done.finished:
            at_ns = self._first_token_ns[index] if index in first else self._front_end.next_ns()
            self._front_end.tell(self._served(index, at_ns), at_ns)
        if done.finished:
            yield after(self._env, 0, Kind.PASS)  # the market may dispatch before the next plan

    def _jump_ahead(self, pending: _Launched) -> Generator[simpy.Event, Any, _Launched]:
        """With overlap: let the decode passes that repeat `pending` go by; the last of them is pending afterwards."""
        horizon = self._engine.horizon(pending.batch) if pending.batch.kind == "decode" else 0
        if horizon == 0 or self._inbox:
            return pending
        steps = yield from self._elapse(pending, horizon)
        self._log(pending, steps, int(self._env.now))
        now, first = int(self._env.now), pending.batch
        batch = self._engine.advance(first, steps)
        self._free_at_ns = pending.start_ns + self._latency.decode_ns(
            len(first.members), first.context_tokens, steps + 1
        )
        return _Launched(batch, now, self._free_at_ns)

    def _elapse(self, launched: _Launched, at_most: int) -> Generator[simpy.Event, Any, int]:
        """Wait for up to `at_most` equal decode passes; an arrival that matters ends it at the next boundary."""
        size, context, start = len(launched.batch.members), launched.batch.context_tokens, launched.start_ns
        steps = at_most
        self._interruptible = True
        try:
            end = start + self._latency.decode_ns(size, context, steps)
            yield after(self._env, end - int(self._env.now), Kind.PASS)
        except simpy.Interrupt:
            steps = self._latency.decode_steps(size, context, int(self._env.now) - start, at_most)
            end = start + self._latency.decode_ns(size, context, steps)
            yield after(self._env, end - int(self._env.now), Kind.PASS)
        self._interruptible = False
        self._free_at_ns = end
        return steps

    def _log(self, launched: _Launched, steps: int, end_ns: int) -> None:
        batch, size = launched.batch, len(launched.batch.members)
        self.engine_steps.append(
            (
                launched.start_ns,
                end_ns - launched.start_ns,
                batch.kind,
                size,
                size * steps if batch.kind == "decode" else batch.new_tokens,
                batch.context_tokens,
                batch.kv_used_tokens,
                batch.evicted_tokens,
            )
        )

    def _served(self, index: int, at_ns: int) -> Served:
        engine = self._engine
        return Served(
            index=index,
            status="ok",
            admitted_ns=self._admitted_ns.pop(index),
            first_token_ns=self._first_token_ns.pop(index),
            computed_ns=self._computed_ns.pop(index),
            finish_ns=at_ns,
            cached_tokens=engine.cached_tokens[index],
            output_tokens=engine.output_tokens(index),
            num_retractions=engine.num_retractions[index],
        )

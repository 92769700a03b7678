"""Drives probes through a backend: groups of requests, one group after another, apart from any market."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import simpy

from mechanism.prompts import IntArray, Prompts
from sim.backend import Backend, BackendConfig, Limits, Notes, Served
from sim.clock import Kind, trigger
from sim.requests import RequestTable

__all__ = ["Driven", "Probe", "ProbeTable", "drive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Requests that are measured together.

    Attributes
    ----------
    kind : what is learned from it; a "warm-up" only fills the cache.
    key : its grid point; equal keys are repetitions.
    requests : table indices, in order of submission.
    in_flight : how many of them may be inside the engine; None = all are submitted at once.
    """

    kind: Literal["warm-up", "prefill", "decode", "mixed"]
    key: str
    requests: range
    in_flight: int | None = None


@dataclass(slots=True)
class ProbeTable:
    """Collects the requests of probes; a prompt is a shared prefix, or none, and tokens of its own."""

    prefixes: dict[str, tuple[int, int]] = field(default_factory=dict)
    probes: list[Probe] = field(default_factory=list)
    _symbols: list[int] = field(default_factory=list)
    _lengths: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=lambda: [0])
    _outputs: list[int] = field(default_factory=list)
    _next: int = 0

    def add(
        self,
        kind: Literal["warm-up", "prefill", "decode", "mixed"],
        key: str,
        prompts: Sequence[tuple[str | None, int, int]],
        in_flight: int | None = None,
    ) -> None:
        """One more probe of requests (name of a prefix or None, own tokens, output tokens)."""
        first = len(self._outputs)
        for name, own, output in prompts:
            if name is not None:
                self._put(*self.prefixes[name])
            if own:
                self._put(self._fresh(), own)
            self._ends.append(len(self._symbols))
            self._outputs.append(output)
        requests = range(first, len(self._outputs))
        self.probes.append(Probe(kind=kind, key=key, requests=requests, in_flight=in_flight))

    def prefix(self, name: str, tokens: int) -> None:
        """Name a prefix that later prompts can share."""
        self.prefixes[name] = (self._fresh(), tokens)

    def requests(self) -> RequestTable:
        """All of them, without owners or values."""
        n = len(self._outputs)
        zeros = np.zeros(n, dtype=np.int64)
        prompts = Prompts(
            np.array(self._symbols, dtype=np.int64),
            np.array(self._ends, dtype=np.int64),
            np.array(self._lengths, dtype=np.int32),
        )
        return RequestTable(
            request_id=tuple(map(str, range(n))),
            prompts=prompts,
            prompt_tokens=prompts.num_tokens,
            output_tokens=np.array(self._outputs, dtype=np.int64),
            output_ids=None,
            output_recorded=None,
            session=None,
            turn=None,
            cluster=np.arange(n),
            arrival_ns=zeros,
            user=zeros,
            user_names=("calibrate",),
            value=np.zeros(n),
            stated_bid=np.zeros(n),
        )

    def _put(self, symbol: int, tokens: int) -> None:
        self._symbols.append(symbol)
        self._lengths.append(tokens)

    def _fresh(self) -> int:
        self._next += 1
        return self._next


@dataclass(slots=True)
class Driven:
    """What came of driving probes.

    Attributes
    ----------
    done : probes whose requests have all left.
    served, sent_ns : by table index.
    elapsed_ns : on the backend's clock.
    interrupted : a Ctrl-C ended it.
    """

    requests: RequestTable
    done: list[Probe] = field(default_factory=list)
    served: dict[int, Served] = field(default_factory=dict)
    sent_ns: dict[int, int] = field(default_factory=dict)
    elapsed_ns: int = 0
    interrupted: bool = False
    limits: Limits = field(default_factory=Limits)
    notes: Notes = field(default_factory=Notes)

    def ttft_ms(self, index: int) -> float:
        """From sending to the first token."""
        first = self.served[index].first_token_ns
        assert first is not None
        return (first - self.sent_ns[index]) / 1e6

    def ok(self, probe: Probe) -> bool:
        """Whether every request of it was served."""
        return all(self.served[index].status == "ok" for index in probe.requests)

    @property
    def prompt_tokens(self) -> IntArray:
        """(n,) of the driven requests."""
        return self.requests.prompt_tokens


def drive(
    config: BackendConfig,
    table: ProbeTable,
    budget_ns: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Driven:
    """Run the probes in turn on a fresh backend; stops between two probes once the budget is used up.

    `progress` is told after every probe how many are done, and the clock, ns. Raises BackendError where the server is
    not ready; a Ctrl-C keeps the probes that were done.
    """
    requests, env = table.requests(), config.environment()
    backend = config.create(requests)
    driven = Driven(requests)
    driver = _Driver(env, backend, driven)
    try:
        backend.start(env, driver.served)
        driven.limits = backend.limits
        env.run(until=env.process(driver.run(table.probes, budget_ns, progress)))
    except KeyboardInterrupt:
        driven.interrupted = True
    finally:
        backend.close()
    driven.notes, driven.elapsed_ns = backend.notes, int(env.now)
    return driven


class _Driver:
    """The process behind `drive`."""

    def __init__(self, env: simpy.Environment, backend: Backend, driven: Driven) -> None:
        self._env, self._backend, self._driven = env, backend, driven
        self._inside = 0
        self._wake: simpy.Event | None = None

    def run(
        self, probes: Sequence[Probe], budget_ns: int | None, progress: Callable[[int, int], None]
    ) -> Generator[simpy.Event, Any, None]:
        for probe in probes:
            if budget_ns is not None and self._env.now >= budget_ns:
                return
            left = deque(probe.requests)
            while left or self._inside:
                free = len(left) if probe.in_flight is None else min(len(left), probe.in_flight - self._inside)
                if free:
                    self._submit([left.popleft() for _ in range(free)])
                self._wake = simpy.Event(self._env)
                yield self._wake
            self._driven.done.append(probe)
            progress(len(self._driven.done), int(self._env.now))

    def served(self, served: Served) -> None:
        self._driven.served[served.index] = served
        if served.sent_ns is not None:
            self._driven.sent_ns[served.index] = served.sent_ns
        self._inside -= 1
        if self._wake is not None:
            trigger(self._wake, Kind.DISPATCH)
            self._wake = None

    def _submit(self, chunk: list[int]) -> None:
        for index in chunk:
            self._driven.sent_ns[index] = int(self._env.now)
        self._inside += len(chunk)
        self._backend.submit(chunk)

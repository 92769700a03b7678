"""A simulated server that passes for a live one: it knows its settings, and its times are noisy."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from backends.simulated import Simulated
from sim.backend import Backend, Served
from sim.requests import RequestTable

FACTS = {
    "engine": "sglang", "version": "0.5.23", "model": "models/tiny", "page_tokens": 1, "overlap": True,
    "chunked_prefill_tokens": 4096, "max_prefill_tokens": 16384, "max_running_requests": 48, "schedule_policy": "fcfs",
}  # fmt: skip


class Scaled:
    """A latency model whose prefills take a random share more or less."""

    def __init__(self, latency: Any, rng: np.random.Generator, noise: float) -> None:
        self._latency, self._rng, self._noise = latency, rng, noise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._latency, name)

    def prefill_ns(self, *arguments: Any) -> int:
        factor = 1 + self._noise * self._rng.standard_normal()
        return max(1, round(self._latency.prefill_ns(*arguments) * factor))


@dataclass
class PassesForLive:
    """Wraps the configuration of a simulated server.

    `interrupt_after` raises KeyboardInterrupt when so many requests were served in one drive; `silent` forgets
    cached tokens; `fails` makes every request an error.
    """

    config: Simulated
    noise: float = 0.0
    facts: dict[str, Any] = field(default_factory=lambda: dict(FACTS))
    interrupt_after: int | None = None
    silent: bool = False
    fails: bool = False
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    @contextmanager
    def open(self) -> Any:
        yield self

    def environment(self) -> simpy.Environment:
        return simpy.Environment()

    def card(self) -> None:
        return None

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> Backend:
        backend = self.config.create(requests, schedule, trial)
        backend.notes.facts = self.facts
        backend._latency = Scaled(backend._latency, self.rng, self.noise)  # type: ignore[assignment]
        start, outer = backend.start, self

        def spoilt(env: simpy.Environment, on_event: Any) -> None:
            count = 0

            def heard(served: Served) -> None:
                nonlocal count
                count += 1
                if outer.interrupt_after is not None and count > outer.interrupt_after:
                    raise KeyboardInterrupt
                on_event(outer.spoil(served))

            start(env, heard)

        backend.start = spoilt  # type: ignore[method-assign]
        return backend

    def spoil(self, served: Served) -> Served:
        if self.fails:
            return Served(index=served.index, status="error", error="broken")
        cached = None if self.silent else served.cached_tokens
        fields = {name: getattr(served, name) for name in Served.__slots__}
        return Served(**{**fields, "cached_tokens": cached})

"""The contract between the market and whoever serves what it dispatches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import simpy

from mechanism.prompts import IntArray
from sim.requests import RequestTable

__all__ = [
    "Backend",
    "BackendConfig",
    "CacheView",
    "EngineSteps",
    "Limits",
    "Notes",
    "PriorityQueue",
    "Served",
    "Status",
    "TakesPriorities",
]

Status = Literal["ok", "error", "timeout", "rejected", "incomplete"]

#: Rows of engine_steps: start_ns, duration_ns, kind, num_requests, new_tokens, context_tokens, kv_used_tokens,
#: evicted_tokens. A run of equal decode passes is one row.
EngineSteps = list[tuple[int, int, str, int, int, int, int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What became of one dispatched request. Times in ns of the market's clock; None = never happened / not said.

    Attributes
    ----------
    sent_ns : when it really left for the server; None = when it was submitted.
    output_ids : the tokens a live server generated.
    computed_ns : when the engine had its first token, which a client hears of later; None = the server does not say.
    """

    index: int
    status: Status
    admitted_ns: int | None = None
    first_token_ns: int | None = None
    finish_ns: int | None = None
    cached_tokens: int | None = None
    output_tokens: int = 0
    num_retractions: int = 0
    error: str | None = None
    sent_ns: int | None = None
    output_ids: tuple[int, ...] | None = None
    computed_ns: int | None = None


@dataclass(slots=True, kw_only=True)
class Notes:
    """What a backend says about one run of its, complete once it is closed.

    Attributes
    ----------
    facts : what served: engine, version, settings; empty for a simulation.
    checks : what was found out about this run, such as how its order of submission was proved.
    warnings : sentences for the person at the keyboard.
    invalid : why the figures of this run must not be used; None = they may.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    checks: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    invalid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server can hold: decides which requests can never fit (DESIGN.md, Definitions).

    Attributes
    ----------
    kv_tokens : capacity of the KV cache in tokens; None = unbounded.
    page_tokens : allocation unit of the KV cache.
    context_tokens : longest prompt + output the model takes; None = no limit.
    """

    kv_tokens: int | None = None
    page_tokens: int = 1
    context_tokens: int | None = None

    def refused(self, prompt_tokens: IntArray, output_tokens: IntArray) -> npt.NDArray[np.bool_]:
        """(n,) which requests can never be served here."""
        never = np.zeros(len(prompt_tokens), dtype=np.bool_)
        if self._capacity is not None:
            never |= self._need(prompt_tokens, output_tokens) >= self._capacity
        if self.context_tokens is not None:
            never |= prompt_tokens + output_tokens > self.context_tokens
        return never

    def refusal(self, prompt_tokens: int, output_tokens: int) -> str:
        """Why a refused request can never be served here.

        >>> Limits(kv_tokens=50).refusal(40, 10)
        'needs 50 tokens of KV cache and never fits the capacity of 50'
        """
        need = int(self._need(np.array([prompt_tokens]), np.array([output_tokens]))[0])
        if self._capacity is not None and need >= self._capacity:
            return f"needs {need} tokens of KV cache and never fits the capacity of {self._capacity}"
        total = prompt_tokens + output_tokens
        return f"prompt and output are {total} tokens and the context is {self.context_tokens}"

    @property
    def _capacity(self) -> int | None:
        """Whole pages alone hold anything."""
        return None if self.kv_tokens is None else self.kv_tokens - self.kv_tokens % self.page_tokens

    def _need(self, prompt_tokens: IntArray, output_tokens: IntArray) -> IntArray:
        need = prompt_tokens + np.minimum(output_tokens, 4096)
        return -(-need // self.page_tokens) * self.page_tokens


class Backend(Protocol):
    """Serves requests in the order it is given them; never decides order or price.

    `limits` hold once it has started.
    """

    limits: Limits
    engine_steps: EngineSteps
    notes: Notes

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        """Become ready; `on_event` is called once per submitted request. Raises BackendError that says what to do."""

    def submit(self, requests: Sequence[int]) -> None:
        """Take these requests (indices into the table), in this order, now."""

    def close(self) -> None:
        """Let go of everything; safe to call twice."""


@runtime_checkable
class CacheView(Protocol):
    """A backend that can say what its KV cache holds."""

    def resident_tokens(self, requests: Sequence[int]) -> IntArray:
        """(k,) leading prompt tokens of each request that a prefill now would find in the cache; changes nothing."""


@runtime_checkable
class PriorityQueue(Protocol):
    """A backend whose server can order its own queue by priorities, larger first."""

    def order_by_priority(self, preempts_above: int | None) -> None:
        """For the whole run; call before `start`.

        With a number, a waiting request pushes out running ones whose priorities are smaller by more than it.
        """

    def prioritise(self, requests: Sequence[int], priorities: IntArray) -> None:
        """(k,) the priorities of requests that will be submitted."""


class BackendConfig(Protocol):
    """A backend's YAML block: a frozen dataclass whose fields are the keys."""

    def open(self) -> AbstractContextManager[BackendConfig]:
        """What one whole run needs, such as a server of its own; yields the configuration to create backends from."""

    def environment(self) -> simpy.Environment:
        """A clock for one backend: simulated or real time."""

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> Backend:
        """A fresh backend (empty cache, clock at zero) for these requests, which `schedule` orders in `trial`."""

    def card(self) -> dict[str, Any] | None:
        """Where a simulation's latencies come from, for the manifest; None for a live server."""


@runtime_checkable
class TakesPriorities(Protocol):
    """A configuration whose backends are each a `PriorityQueue`."""

    def check_priorities(self) -> None:
        """ScenarioError, which names the key, unless a server with these settings can schedule by priority."""

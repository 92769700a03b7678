"""The processes that let requests arrive: by the clock, from clients in a closed loop, or turn by turn in sessions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

import numpy as np
import simpy

from mechanism.prompts import IntArray
from sim.arrivals import ClosedLoop
from sim.clock import Kind, after
from sim.requests import RequestTable

__all__ = ["ArrivalProcess", "arrival_process"]

#: Takes the indices of requests that arrive now.
Arrive = Callable[[Sequence[int]], None]
Events = Generator[simpy.Event, Any, None]


class ArrivalProcess(Protocol):
    """Lets every request of a table arrive exactly once."""

    def run(self) -> Events:
        """The process to start with the clock."""

    def left(self, index: int) -> None:
        """Request `index` has left, in whatever way; call it once for each."""


def arrival_process(
    env: simpy.Environment, requests: RequestTable, closed_loop: ClosedLoop | None, arrive: Arrive
) -> ArrivalProcess:
    """The process that fits a table and a closed loop (None = there is none)."""
    if closed_loop is not None:
        return _Clients(env, len(requests), closed_loop, arrive)
    if requests.follows is not None:
        return _Sessions(env, requests, arrive)
    return _Clock(env, np.arange(len(requests)), requests.arrival_ns, arrive)


class _Clock:
    """Requests arrive at recorded or drawn times, together where these are equal."""

    def __init__(self, env: simpy.Environment, indices: IntArray, arrival_ns: IntArray, arrive: Arrive) -> None:
        self._env, self._indices, self._arrival_ns, self._arrive = env, indices, arrival_ns, arrive

    def run(self) -> Events:
        bounds = [*np.flatnonzero(np.diff(self._arrival_ns, prepend=-1)).tolist(), len(self._arrival_ns)]
        for first, end in itertools.pairwise(bounds):
            yield after(self._env, int(self._arrival_ns[first]) - int(self._env.now), Kind.ARRIVAL)
            self._arrive(self._indices[first:end].tolist())

    def left(self, index: int) -> None:
        """Nobody waits for an answer."""


class _Clients:
    """A fixed number of clients take the requests in table order, each the next one after its last has left."""

    def __init__(self, env: simpy.Environment, n: int, loop: ClosedLoop, arrive: Arrive) -> None:
        self._env, self._n, self._loop, self._arrive = env, n, loop, arrive
        self._next = min(loop.concurrency, n)

    def run(self) -> Events:
        yield after(self._env, 0, Kind.ARRIVAL)
        self._arrive(range(self._next))

    def left(self, index: int) -> None:  # noqa: ARG002 (the clients are alike)
        if self._next < self._n:
            self._env.process(_later(self._env, self._loop.think_time_ns, self._next, self._arrive))
            self._next += 1


class _Sessions:
    """First turns arrive by the clock, each later one when its user has read and thought about the answer before."""

    def __init__(self, env: simpy.Environment, requests: RequestTable, arrive: Arrive) -> None:
        assert requests.follows is not None
        assert requests.think_ns is not None
        self._env, self._arrive = env, arrive
        first = np.flatnonzero(requests.follows < 0)
        self._clock = _Clock(env, first, requests.arrival_ns[first], arrive)
        later = np.flatnonzero(requests.follows >= 0)
        self._next = dict(zip(requests.follows[later].tolist(), later.tolist(), strict=True))
        self._think_ns = requests.think_ns

    def run(self) -> Events:
        yield from self._clock.run()

    def left(self, index: int) -> None:
        turn = self._next.pop(index, None)
        if turn is not None:
            self._env.process(_later(self._env, int(self._think_ns[turn]), turn, self._arrive))


def _later(env: simpy.Environment, delay_ns: int, index: int, arrive: Arrive) -> Events:
    yield after(env, delay_ns, Kind.ARRIVAL)
    arrive([index])

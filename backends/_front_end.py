"""What lies between the simulated engine and its clients: a message takes a while, and one follows another."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from sim.backend import Served
from sim.clock import Kind, after
from sim.latency import LatencyModel

__all__ = ["FrontEnd"]


class FrontEnd:
    """A message is with its client `request_overhead_ms` after it left, and `request_gap_ms` after the one before.

    So what a pass finishes is not answered at one instant: the first client's next request finds an idle engine, and
    those of the others come while that one is computed.
    """

    def __init__(self, env: simpy.Environment, latency: LatencyModel, on_event: Callable[[Served], None]) -> None:
        self._env, self._on_event = env, on_event
        self._way_ns, self._gap_ns = latency.request_ns, latency.gap_ns
        self._last_ns = -self._gap_ns

    def next_ns(self) -> int:
        """When a message that leaves the engine now is with its client."""
        self._last_ns = max(int(self._env.now) + self._way_ns, self._last_ns + self._gap_ns)
        return self._last_ns

    def tell(self, served: Served, at_ns: int) -> None:
        """Let the client hear of it then."""
        wait_ns = at_ns - int(self._env.now)
        if wait_ns == 0:
            self._on_event(served)
            return
        arrival = after(self._env, wait_ns, Kind.ARRIVAL)
        assert arrival.callbacks is not None
        arrival.callbacks.append(lambda _: self._on_event(served))

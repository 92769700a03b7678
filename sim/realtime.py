"""The market's clock beside a real server: SimPy's events at their times, and a thread-safe inbox between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic_ns

import simpy
import simpy.rt
from simpy.core import EmptySchedule

__all__ = ["RealTimeEnvironment"]

#: How often a long wait is interrupted, s: a Ctrl-C just before it began would else be noticed only at its end.
LOOK_UP_S = 0.2


class RealTimeEnvironment(simpy.rt.RealtimeEnvironment):
    """Integer nanoseconds since the first step, by the monotonic clock.

    A scheduled event happens at its time or, when the process is late, as soon as possible; `now` is then the time
    it was meant for, so nothing that waits for it is counted shorter. Between events the environment waits on its
    inbox: what another thread posts is delivered in the thread that runs the environment, with `now` at the time of
    posting. It runs on until it is closed, also while nothing is scheduled.
    """

    def __init__(self) -> None:
        super().__init__(initial_time=0, factor=1e-9, strict=False)
        self._inbox: SimpleQueue[tuple[int, Callable[[], None]]] = SimpleQueue()
        self._head: tuple[int, Callable[[], None]] | None = None
        self._started_ns: int | None = None
        self._closed = False

    def post(self, deliver: Callable[[], None]) -> None:
        """Have `deliver` called by the thread that runs the environment; from any thread, never blocks."""
        self._inbox.put((monotonic_ns(), deliver))

    def close(self) -> None:
        """Nothing will be posted any more: the run ends when nothing is scheduled. From any thread."""
        self._closed = True
        self.post(lambda: None)

    def elapsed_ns(self, at_ns: int) -> int:
        """A reading of `time.monotonic_ns` on the environment's clock; 0 before its first step."""
        return 0 if self._started_ns is None else at_ns - self._started_ns

    def step(self) -> None:
        """Deliver the next post or process the next event, whichever comes first."""
        if self._started_ns is None:
            self._started_ns = monotonic_ns()
        due = self.peek()
        posted = self._post_before(due)
        if posted is None:
            if due == math.inf:
                raise EmptySchedule
            simpy.Environment.step(self)
            return
        posted_ns, deliver = posted
        self._now = max(int(self._now), self.elapsed_ns(posted_ns))
        deliver()

    def _post_before(self, due: float) -> tuple[int, Callable[[], None]] | None:
        """The oldest post if it was made before `due`; waits for one until then. None: the event is next."""
        while self._head is None:
            wait_s = (due - self.elapsed_ns(monotonic_ns())) * 1e-9
            over = wait_s <= 0 or (self._closed and due == math.inf)
            try:
                self._head = self._inbox.get_nowait() if over else self._inbox.get(timeout=min(wait_s, LOOK_UP_S))
            except Empty:
                if over:
                    return None
        if self.elapsed_ns(self._head[0]) >= due:
            return None
        head, self._head = self._head, None
        return head

"""Simulated time: integer nanoseconds, and the order of events that happen at the same instant.

Events at one instant run by (time, kind, sequence). The kind is the integer priority SimPy sorts by: requests arrive
and are dispatched before the engine plans its next pass.
"""

from __future__ import annotations

from enum import IntEnum

import simpy

from sim.errors import ScenarioError
from sim.quantities import LATEST_NS

__all__ = ["NS_PER_MS", "NS_PER_S", "Kind", "after", "seconds_to_ns", "trigger"]

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000


class Kind(IntEnum):
    """What happens first at equal times; SimPy itself uses 0 for interrupts and process starts."""

    ARRIVAL = 1
    DEADLINE = 2
    DISPATCH = 3
    PASS = 4


def after(env: simpy.Environment, delay_ns: int, kind: Kind) -> simpy.Event:
    """An event that happens `delay_ns` from now, ordered by `kind` among those of the same instant."""
    event = simpy.Event(env)
    trigger(event, kind, delay_ns)
    return event


def trigger(event: simpy.Event, kind: Kind, delay_ns: int = 0) -> None:
    """Let an event that somebody may already wait for happen `delay_ns` from now; once only.

    Raises
    ------
    ScenarioError
        That is later than any clock we keep: times and durations of the scenario add up to more than `LATEST_NS`.
    """
    if delay_ns > LATEST_NS - event.env.now:
        found = f"an event after {(event.env.now + delay_ns) / NS_PER_S:.3g} s"
        raise ScenarioError("the simulated clock", found, "a run of less than 146 years", "Shorten waits or lengths.")
    event._ok, event._value = True, None
    event.env.schedule(event, priority=kind, delay=delay_ns)  # type: ignore[arg-type]


def seconds_to_ns(seconds: float) -> int:
    """Nearest nanosecond.

    >>> seconds_to_ns(0.5)
    500000000
    """
    return round(seconds * NS_PER_S)

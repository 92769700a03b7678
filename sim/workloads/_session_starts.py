"""When sessions start that were recorded one by one, each on a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sim.quantities import whole_ns
from sim.requests import Demand

__all__ = ["session_starts"]


def session_starts(
    demand: Demand,
    session_rate: float | None,
    rng_stream: Callable[[str], np.random.Generator],
    together: Sequence[str] | None = None,
) -> Demand:
    """`demand` with its sessions moved in time as wholes, so that their first requests form a Poisson process.

    Sessions keep the order of the file; the first starts at 0. `session_rate` None leaves them where they are.

    `together` (n,) names what moves as one, where that is more than a session (an agent with its sub-agents).
    """
    if session_rate is None or demand.session is None or demand.arrival_ns is None or not len(demand.session):
        return demand
    number: dict[str, int] = {}
    root = np.array([number.setdefault(name, len(number)) for name in together or demand.session])
    gaps = rng_stream("workload-sessions").standard_exponential(len(number)) / session_rate
    gaps[0] = 0.0
    first = np.full(len(number), np.iinfo(np.int64).max)
    np.minimum.at(first, root, demand.arrival_ns)
    starts = whole_ns(np.cumsum(gaps) * 1e9, "workload.session_rate")
    return replace(demand, arrival_ns=demand.arrival_ns + (starts - first)[root])

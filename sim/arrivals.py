"""When requests arrive: the `arrivals:` block. Times are integer nanoseconds, in file order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from mechanism.prompts import FloatArray, IntArray
from sim.errors import ScenarioError
from sim.quantities import Count, Ratio, Seconds, whole_ns
from sim.requests import Demand

__all__ = ["KINDS", "Arrivals", "ClosedLoop", "Gamma", "Poisson", "Saturated", "Sessions", "Trace"]

Rate = Annotated[float, Field(ge=1e-9, allow_inf_nan=True)]


@dataclass(frozen=True)
class Saturated:
    """Everything waits from the start: all requests arrive at 0; recorded times are ignored."""

    kind: ClassVar[str] = "saturated"

    def times_ns(self, demand: Demand, _rng: np.random.Generator) -> IntArray:
        """(n,) zeros."""
        return np.zeros(len(demand.prompts), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Poisson:
    """A Poisson process: independent exponential gaps, also before the first request.

    Attributes
    ----------
    request_rate : requests per second; .inf = all at once.
    """

    request_rate: Rate
    kind: ClassVar[str] = "poisson"

    def times_ns(self, demand: Demand, rng: np.random.Generator) -> IntArray:
        """(n,) ascending arrival times."""
        return _cumulate(rng.standard_exponential(len(demand.prompts)) / self.request_rate)


@dataclass(frozen=True, kw_only=True)
class Gamma:
    """Independent gamma gaps with mean 1/request_rate; `burstiness` is the gamma's shape, as in `vllm bench serve`.

    Attributes
    ----------
    request_rate : requests per second; .inf = all at once.
    burstiness : 1 = Poisson; below 1 burstier, above 1 more regular.
    """

    request_rate: Rate
    burstiness: Annotated[float, Field(ge=1e-3, le=1e6)] = 1.0
    kind: ClassVar[str] = "gamma"

    def times_ns(self, demand: Demand, rng: np.random.Generator) -> IntArray:
        """(n,) ascending arrival times."""
        gaps = rng.standard_gamma(self.burstiness, len(demand.prompts))
        return _cumulate(gaps / self.burstiness / self.request_rate)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The recorded times.

    Attributes
    ----------
    time_scale : 2 = twice as slow.
    """

    time_scale: Ratio = 1.0
    kind: ClassVar[str] = "trace"

    def times_ns(self, demand: Demand, _rng: np.random.Generator) -> IntArray:
        """(n,) recorded times, scaled; not necessarily ascending."""
        if demand.arrival_ns is None:
            raise ScenarioError("arrivals.kind", "trace", "a workload that records arrival times")
        if self.time_scale == 1.0:
            return demand.arrival_ns
        return whole_ns(demand.arrival_ns.astype(np.float64) * self.time_scale, "arrivals.time_scale")


@dataclass(frozen=True, kw_only=True)
class ClosedLoop:
    """A fixed number of clients; each sends its next request `think_time_s` after the previous one finished.

    Arrival times are unknown before the run: the table says 0 and its order is the order in which requests are
    taken. The market lets the first `concurrency` arrive at 0 and, whenever a request ends (in any way), the next
    one `think_time_s` later.

    Attributes
    ----------
    concurrency : number of clients.
    think_time_s : pause between an answer and the next request.
    """

    concurrency: Count
    think_time_s: Seconds = 0.0
    kind: ClassVar[str] = "closed-loop"

    @property
    def think_time_ns(self) -> int:
        """The pause in nanoseconds."""
        return round(self.think_time_s * 1e9)

    def times_ns(self, demand: Demand, _rng: np.random.Generator) -> IntArray:
        """(n,) zeros: the market sets the true times."""
        return np.zeros(len(demand.prompts), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """Every session is a closed loop of its own: a turn arrives when its user has thought about the answer before.

    First turns arrive at their recorded times, or at 0 where the workload has no clock. The times the table gives to
    later turns are the recorded ones, for order only: the market sets the true ones.

    Attributes
    ----------
    think_time_s : pause between an answer and the session's next turn; null = the recorded pauses.
    """

    think_time_s: Seconds | None = None
    kind: ClassVar[str] = "sessions"

    def times_ns(self, demand: Demand, _rng: np.random.Generator) -> IntArray:
        """(n,) recorded times, or zeros."""
        if demand.session is None:
            raise ScenarioError("arrivals.kind", "sessions", "a workload with sessions")
        self.pauses_ns(demand)  # complain before anything is built on the times
        return np.zeros(len(demand.prompts), dtype=np.int64) if demand.arrival_ns is None else demand.arrival_ns

    def pauses_ns(self, demand: Demand) -> IntArray:
        """(n,) what the user of each turn thinks before it."""
        if self.think_time_s is not None:
            return np.full(len(demand.prompts), round(self.think_time_s * 1e9), dtype=np.int64)
        if demand.think_ns is None:
            raise ScenarioError("arrivals.think_time_s", "null", "a number: the workload records no pauses")
        return demand.think_ns


Arrivals = Saturated | Poisson | Gamma | Trace | ClosedLoop | Sessions

KINDS: dict[str, type[Arrivals]] = {cls.kind: cls for cls in (Saturated, Poisson, Gamma, Trace, ClosedLoop, Sessions)}


def _cumulate(gaps_s: FloatArray) -> IntArray:
    return whole_ns(np.cumsum(gaps_s) * 1e9, "arrivals.request_rate")

from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanism.prompts import IntArray, Prompts
from sim.arrivals import KINDS, ClosedLoop, Gamma, Poisson, Saturated, Trace
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream


def demand(n: int, arrival_ns: list[int] | None = None) -> Demand:
    return Demand(
        prompts=Prompts(np.zeros(n, dtype=np.int32), np.arange(n + 1)),
        output_tokens=np.ones(n, dtype=np.int64),
        cluster=np.arange(n),
        arrival_ns=None if arrival_ns is None else np.array(arrival_ns),
    )


def times(arrivals: Any, n: int = 20_000, arrival_ns: list[int] | None = None) -> IntArray:
    found: IntArray = arrivals.times_ns(demand(n, arrival_ns), stream(0, 0, "arrivals"))
    assert found.dtype == np.int64
    return found


def test_saturated_and_closed_loop_say_zero() -> None:
    assert not times(Saturated(), 5, [1, 2, 3, 4, 5]).any()
    assert not times(ClosedLoop(concurrency=2), 5).any()
    assert ClosedLoop(concurrency=2, think_time_s=0.0015).think_time_ns == 1_500_000


def test_poisson_gaps_are_exponential() -> None:
    gaps = np.diff(times(Poisson(request_rate=8.0)), prepend=0) / 1e9
    assert (gaps >= 0).all()
    assert stats.kstest(gaps, stats.expon(scale=1 / 8).cdf).pvalue > 0.01


@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
def test_gamma_gaps_have_the_rate_and_the_shape(burstiness: float) -> None:
    gaps = np.diff(times(Gamma(request_rate=8.0, burstiness=burstiness)), prepend=0) / 1e9
    assert stats.kstest(gaps, stats.gamma(burstiness, scale=1 / 8 / burstiness).cdf).pvalue > 0.01


@pytest.mark.parametrize("kind", [Poisson, Gamma])
def test_an_infinite_rate_is_everything_at_once(kind: Any) -> None:
    assert not times(kind(request_rate=float("inf"))).any()


def test_the_rate_only_scales_time() -> None:
    slow, fast = times(Poisson(request_rate=1.0)), times(Poisson(request_rate=4.0))
    np.testing.assert_allclose(slow / 4, fast, atol=1)


def test_recorded_times_are_kept_or_scaled() -> None:
    recorded = [0, 3, 1_500_000_001]
    assert times(Trace(), 3, recorded).tolist() == recorded
    assert times(Trace(time_scale=2.0), 3, recorded).tolist() == [0, 6, 3_000_000_002]
    assert times(Trace(time_scale=0.5), 3, recorded).tolist() == [0, 2, 750_000_000]


def test_a_workload_without_a_clock_has_no_recorded_times() -> None:
    with pytest.raises(ScenarioError, match="a workload that records arrival times"):
        times(Trace(), 3)


def test_what_does_not_fit_the_clock_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"arrivals.request_rate: found an arrival after .*146 years"):
        times(Poisson(request_rate=1e-9))
    with pytest.raises(ScenarioError, match=r"arrivals.time_scale: found an arrival after"):
        times(Trace(time_scale=1e9), 1, [10**10])


def test_kinds_have_the_names_of_the_specification() -> None:
    assert {"saturated", "poisson", "gamma", "trace", "closed-loop"} <= set(KINDS)

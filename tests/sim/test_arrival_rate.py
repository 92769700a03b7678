"""Arrivals over time, on traces made by hand."""

import numpy as np

from sim.arrival_rate import arrival_rate


def test_an_even_trace_is_all_loaded() -> None:
    found = arrival_rate(np.arange(1000) * 0.1)
    assert found.span_s == 99.9
    assert found.request_rate is not None
    assert abs(found.request_rate - 1000 / 99.9) < 1e-12
    assert (found.bin_s, len(found.requests), sum(found.requests)) == (1.0, 100, 1000)
    assert found.busy_rate == 10.0
    assert (found.loaded_share, found.quiet_head_s, found.tied_share, found.most_at_once) == (1.0, 0.0, 0.0, 1)
    assert found.warnings() == []


def test_c14_a_trace_that_idles_is_warned_about() -> None:
    # BurstGPT's head: one request in 33 s for a day, then a burst of 100 a second for a minute
    head, burst = np.arange(0, 86400, 33.0), 86400 + np.arange(6000) / 100
    found = arrival_rate(np.concatenate((head, burst)))
    assert (found.bin_s, found.loaded_share) == (1800.0, 1 / 49)
    idle, ramp = found.warnings()
    assert idle.startswith("only 2.0% of the span is loaded")
    assert ramp.startswith("ramp-up: the first 86,400 s run below a tenth of")
    assert ramp.endswith("leave them out with start_s: 86400")


def test_a_short_ramp_is_none() -> None:
    steady = np.arange(0, 1000, 0.5)
    assert arrival_rate(np.concatenate(([0.0], 30 + steady))).warnings() == []
    late = arrival_rate(np.concatenate(([0.0], 100 + steady)))
    assert late.quiet_head_s == 100.0
    assert [warning[:8] for warning in late.warnings()] == ["ramp-up:"]


def test_oddity_o10_a_coarse_clock_is_warned_about() -> None:
    found = arrival_rate(np.repeat(np.arange(0, 3000, 3.0), 10))
    assert (found.tied_share, found.most_at_once) == (0.9, 10)
    assert found.warnings()[0].startswith(
        "ties: 90.0% of the requests arrive at the very time of the one before, up to 10"
    )


def test_one_instant_and_one_request() -> None:
    at_once = arrival_rate(np.full(5, 7.0))
    assert (at_once.span_s, at_once.request_rate, at_once.requests) == (0.0, None, (5,))
    assert arrival_rate(np.array([3.0])).warnings() == []

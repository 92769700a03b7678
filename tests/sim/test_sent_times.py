"""A request that left later than it was submitted waited at the client, not at the server (CASES.md 11)."""

from __future__ import annotations

import pytest
from market_kit import table

from sim.backend import Served
from sim.records import Cell, request_times
from sim.run_log import RunLog

S = 10**9


def test_the_time_of_sending_counts_as_dispatch() -> None:
    log = RunLog.of(1)
    log.arrival_ns[0] = log.dispatch_ns[0] = 0
    log.record(
        Served(
            index=0, status="ok", sent_ns=S * 18 // 100, first_token_ns=S // 2, finish_ns=S, output_tokens=2,
            cached_tokens=None,
        )
    )  # fmt: skip
    times = request_times(Cell("x", 0, True, table([0], [1.0]), log))
    assert times["client_queue_time_s"][0] == pytest.approx(0.18)
    assert times["server_ttft_s"][0] == pytest.approx(0.32)
    assert times["ttft_s"][0] == pytest.approx(0.5)


def test_without_it_the_submission_does() -> None:
    log = RunLog.of(1)
    log.arrival_ns[0], log.dispatch_ns[0] = 0, 7
    log.record(Served(index=0, status="ok", first_token_ns=9, finish_ns=9, output_tokens=1))
    assert log.dispatch_ns == [7]

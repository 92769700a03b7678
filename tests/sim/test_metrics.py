"""Metrics of a run of four requests, every number worked out by hand."""

import math

import numpy as np
import pytest
from market_kit import table

from sim.metrics import DEFINITIONS, Window, status_counts, trial_metrics
from sim.realised import cohort_of, realised_priority_of_run
from sim.records import Cell, request_times
from sim.run_log import RunLog

MS = 1_000_000


def four_requests(*, saturated: bool = True) -> Cell:
    """Arrivals 0; values 1, 2, 3, 4; TTFT 10, 20, 20, 40 ms; batches (0, 2) and (3, 1) in that submission order."""
    requests = table([0] * 4, [1.0, 2.0, 3.0, 4.0], output_tokens=3)
    log = RunLog.of(4)
    log.arrival_ns = [0] * 4
    log.dispatch_ns = [0, 5 * MS, 0, 5 * MS]
    log.admitted_ns = [1 * MS, 6 * MS, 1 * MS, 8 * MS]
    log.first_token_ns = [10 * MS, 20 * MS, 20 * MS, 40 * MS]
    log.finish_ns = [30 * MS, 20 * MS, 60 * MS, 100 * MS]
    log.output_tokens = [3, 1, 3, 4]
    log.cached_tokens = [0, 1, 0, 1]
    log.status = ["ok"] * 4
    log.batch, log.position = np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])
    log.priority = np.array([1.0, 0.0, 0.0, 1.0])
    log.payment = np.array([0.5, 0.0, 0.0, 1.5])
    log.auctions = [None, None]  # type: ignore[list-item]
    return Cell("s", 0, saturated, requests, log)


def test_one_cohort_when_saturated() -> None:
    cell = four_requests()
    assert cohort_of(cell.log, saturated=True).tolist() == [0, 0, 0, 0]
    # Ranks by TTFT: 0 (10), then 2 before 1 at 20 ms because it was submitted earlier, then 3.
    realised = realised_priority_of_run(cell.log, request_times(cell)["ttft_s"], saturated=True)
    assert realised == pytest.approx([1.0, 1 / 3, 2 / 3, 0.0])


def test_batches_are_cohorts_with_open_arrivals() -> None:
    cell = four_requests(saturated=False)
    assert cohort_of(cell.log, saturated=False).tolist() == [0, 1, 0, 1]
    realised = realised_priority_of_run(cell.log, request_times(cell)["ttft_s"], saturated=False)
    assert realised.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_welfare_is_on_the_realised_order() -> None:
    metrics = trial_metrics(four_requests(), Window())
    # 1·1 + 2·⅓ + 3·⅔ + 4·0 = 11/3 against the baseline ½·10 = 5; scheduled 1 + 4 = 5.
    assert metrics["welfare"] == pytest.approx(11 / 3)
    assert metrics["scheduled_welfare"] == pytest.approx(5.0)
    assert metrics["welfare_pct_over_random"] == pytest.approx(100 * (11 / 15 - 1))


def test_latencies() -> None:
    metrics = trial_metrics(four_requests(), Window())
    assert metrics["mean_ttft_ms"] == pytest.approx(22.5)
    assert metrics["median_ttft_ms"] == pytest.approx(20.0)
    assert metrics["p99_ttft_ms"] == pytest.approx(20 + 20 * 0.97)  # linear between ranks 2 and 3 of 0 … 3: 2.97
    assert metrics["value_weighted_ttft_ms"] == pytest.approx((10 + 40 + 60 + 160) / 10)
    # TPOT: 20/2, none for one token, 40/2, 60/3.
    assert metrics["mean_tpot_ms"] == pytest.approx((10 + 20 + 20) / 3)
    assert metrics["mean_e2el_ms"] == pytest.approx((30 + 20 + 60 + 100) / 4)
    assert metrics["max_wait_s"] == pytest.approx(0.008)


def test_throughput_money_and_hits() -> None:
    metrics = trial_metrics(four_requests(), Window(slo=(("ttft_ms", 20.0), ("tpot_ms", 15.0))))
    assert metrics["duration_s"] == pytest.approx(0.1)
    assert metrics["request_throughput"] == pytest.approx(40.0)
    assert metrics["total_token_throughput"] == pytest.approx((4 + 11) / 0.1)
    assert metrics["goodput"] == pytest.approx(20.0)  # requests 0 and 1; 2 misses TPOT, 3 misses TTFT
    assert metrics["revenue"] == pytest.approx(2.0)
    assert metrics["hit_rate"] == pytest.approx(2 / 4)


def test_null_cached_tokens_are_not_zero() -> None:
    cell = four_requests()
    cell.log.cached_tokens = [None, 1, None, None]
    assert trial_metrics(cell, Window())["hit_rate"] == 1.0
    cell.log.cached_tokens = [None] * 4
    assert trial_metrics(cell, Window())["hit_rate"] is None


def test_failed_requests_rank_last_and_rejected_ones_stand_outside() -> None:
    cell = four_requests()
    cell.log.status[0], cell.log.first_token_ns[0], cell.log.finish_ns[0] = "error", None, None
    cell.log.status[1], cell.log.batch[1], cell.log.position[1] = "rejected", -1, -1
    cell.log.first_token_ns[1] = cell.log.finish_ns[1] = cell.log.cached_tokens[1] = None
    realised = realised_priority_of_run(cell.log, request_times(cell)["ttft_s"], saturated=True)
    assert realised[[2, 3, 0]].tolist() == [1.0, 0.5, 0.0]
    assert math.isnan(realised[1])
    metrics = trial_metrics(cell, Window())
    assert metrics["welfare_pct_over_random"] == pytest.approx(100 * (5 / 4 - 1))  # 3 + 2 over ½·(3 + 4 + 1)
    assert metrics["mean_ttft_ms"] == pytest.approx(30.0)
    assert status_counts(cell) == {"error": 1, "ok": 2, "rejected": 1}


def test_nothing_served_is_null_everywhere() -> None:
    cell = four_requests()
    log = RunLog.of(4)
    log.arrival_ns = [0] * 4
    metrics = trial_metrics(Cell("s", 0, True, cell.requests, log), Window(slo=(("ttft_ms", 1.0),)))
    assert set(metrics.values()) == {None}


def test_warmup_and_cooldown_cut_by_arrival() -> None:
    cell = four_requests(saturated=False)
    cell.log.arrival_ns = [0, 2 * MS, 5 * MS, 10 * MS]
    metrics = trial_metrics(cell, Window(warmup_s=0.001, cooldown_s=0.004))
    assert metrics["mean_ttft_ms"] == pytest.approx((18 + 15) / 2)  # requests 1 and 2 alone
    assert metrics["request_throughput"] == pytest.approx(2 / 0.005)  # of the window from 1 to 6 ms


def test_a_window_without_requests_is_null_everywhere_but_the_duration() -> None:
    metrics = trial_metrics(four_requests(saturated=False), Window(warmup_s=1.0, slo=(("ttft_ms", 1.0),)))
    assert {name for name, value in metrics.items() if value is not None} == {"duration_s"}


def test_every_metric_is_defined_or_a_percentile_of_one_that_is() -> None:
    for name in trial_metrics(four_requests(), Window()):
        stem = name.split("_", 1)[1] if name.startswith(("mean_", "median_", "p90_", "p95_", "p99_")) else name
        assert stem in DEFINITIONS

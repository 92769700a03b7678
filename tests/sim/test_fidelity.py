"""Agreement of two runs, on records small enough to be compared by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sim.fidelity import agreement, mean_agreement

BASE = {
    "schedule": "s", "trial": 0, "batch": 0, "prompt_tokens": 100, "cached_tokens": 0, "arrival_s": 0.0,
    "finish_s": 4.0, "ttft_s": 1.0, "server_ttft_s": 1.0, "value": 1.0, "realised_priority": 0.0,
    "num_retractions": 0, "status": "ok",
}  # fmt: skip


def records(*rows: dict[str, Any]) -> pl.DataFrame:
    """One request a row, named by its number unless it says otherwise."""
    full = [{**BASE, "request_id": str(number), "pass": number, **row} for number, row in enumerate(rows)]
    return pl.DataFrame(full, schema_overrides={"cached_tokens": pl.Int64})


def test_a_run_agrees_with_itself() -> None:
    run = records({"realised_priority": 1.0}, {"realised_priority": 0.5}, {"realised_priority": 0.0})
    found = agreement(run, run, run, saturated=True)
    assert (found.ttft_mape_pct, found.ttft_mean_pct, found.ttft_p90_pct) == (0.0, 0.0, 0.0)
    assert (found.hit_rate_pp, found.welfare_pct, found.throughput_pct) == (0.0, 0.0, 0.0)
    assert found.order_tau == pytest.approx(1.0)
    assert (found.num_compared, found.num_lost, found.num_cached_equal) == (3, 0, 3)


def test_ttft_by_hand() -> None:
    ours = records({"server_ttft_s": 1.1}, {"server_ttft_s": 1.8})
    theirs = records({"server_ttft_s": 1.0}, {"server_ttft_s": 2.0})
    found = agreement(ours, theirs, ours, saturated=True)
    assert found.ttft_mape_pct == pytest.approx((10 + 10) / 2)
    assert found.ttft_mean_pct == pytest.approx(100 * 0.1 / 3.0)  # 2.9 against 3.0
    assert found.ttft_p90_pct == pytest.approx(100 * (1.9 - 1.73) / 1.9)  # 1.1 + 0.9·0.7 against 1 + 0.9


def test_ttft_counts_from_sending_not_from_arrival() -> None:
    # sent 0.18 s after it arrived: that wait is the client's, no error of the simulation's
    live = records({"ttft_s": 1.18, "server_ttft_s": 1.0})
    ours = records({"ttft_s": 1.0, "server_ttft_s": 1.0})
    assert agreement(ours, live, ours, saturated=True).ttft_mape_pct == 0.0


def test_hit_rate_is_over_tokens_and_only_where_both_know() -> None:
    ours = records({"cached_tokens": 50}, {"cached_tokens": 10}, {"cached_tokens": None})
    theirs = records({"cached_tokens": 40}, {"cached_tokens": 10}, {"cached_tokens": 90})
    found = agreement(ours, theirs, ours, saturated=True)
    assert found.hit_rate_pp == pytest.approx(100 * 10 / 200)
    assert (found.num_cached_known, found.num_cached_equal) == (2, 1)


def test_null_is_not_zero() -> None:
    silent = records({"cached_tokens": None})
    assert agreement(silent, silent, silent, saturated=True).hit_rate_pp is None


def test_order_is_within_cohorts() -> None:
    # batch 0 agrees on its one pair; in batch 1 one of three pairs is turned: (1·1 + 3·(1/3)) / 4
    ours = records(
        {"realised_priority": 1.0}, {"realised_priority": 0.0},
        *({"batch": 1, "realised_priority": rank} for rank in (1.0, 0.5, 0.0)),
    )  # fmt: skip
    theirs = records(
        {"realised_priority": 1.0}, {"realised_priority": 0.0},
        *({"batch": 1, "realised_priority": rank} for rank in (0.5, 1.0, 0.0)),
    )  # fmt: skip
    assert agreement(ours, theirs, ours, saturated=False).order_tau == pytest.approx((1 + 3 * (1 / 3)) / 4)


def test_no_order_is_asked_of_one_pass() -> None:
    # 0 and 1 come of one pass, 2 of a later one: the pairs (0, 2) and (1, 2) are left
    simulated = records(
        {"realised_priority": 1.0, "pass": 1.0},
        {"realised_priority": 0.5, "pass": 1.0},
        {"realised_priority": 0.0, "pass": 2.0},
    )
    turned = records({"realised_priority": 0.5}, {"realised_priority": 1.0}, {"realised_priority": 0.0})
    wrong = records({"realised_priority": 1.0}, {"realised_priority": 0.0}, {"realised_priority": 0.5})
    assert agreement(simulated, turned, simulated, saturated=True).order_tau == pytest.approx(1.0)
    assert agreement(turned, turned, simulated, saturated=True).order_tau == pytest.approx(1.0)
    assert agreement(simulated, wrong, simulated, saturated=True).order_tau == pytest.approx(0.0)


def test_welfare_and_throughput_by_hand() -> None:
    ours = records({"value": 3.0, "realised_priority": 1.0}, {"value": 1.0, "realised_priority": 0.0})
    theirs = records(
        {"value": 3.0, "realised_priority": 0.0, "finish_s": 5.0}, {"value": 1.0, "realised_priority": 1.0}
    )
    found = agreement(ours, theirs, ours, saturated=True)
    assert found.welfare_pct == pytest.approx(100 * (3 - 1) / 1)
    assert found.throughput_pct == pytest.approx(100 * (2 / 4 - 2 / 5) / (2 / 5))


def test_welfare_does_not_count_the_order_within_a_pass() -> None:
    # 0 and 1 come of one pass: each counts with (1 + 0.5) / 2
    simulated = records(
        {"value": 5.0, "realised_priority": 1.0, "pass": 1.0},
        {"value": 1.0, "realised_priority": 0.5, "pass": 1.0},
        {"value": 2.0, "realised_priority": 0.0, "pass": 2.0},
    )
    turned = records(
        {"value": 5.0, "realised_priority": 0.5}, {"value": 1.0, "realised_priority": 1.0},
        {"value": 2.0, "realised_priority": 0.0},
    )  # fmt: skip
    wrong = records(
        {"value": 5.0, "realised_priority": 1.0}, {"value": 1.0, "realised_priority": 0.0},
        {"value": 2.0, "realised_priority": 0.5},
    )  # fmt: skip
    assert agreement(simulated, turned, simulated, saturated=True).welfare_pct == pytest.approx(0.0)
    ours, theirs = 5 * 0.75 + 1 * 0.75, 5 * 0.5 + 1 * 0.5 + 2 * 0.5
    found = agreement(simulated, wrong, simulated, saturated=True)
    assert found.welfare_pct == pytest.approx(100 * abs(ours - theirs) / theirs)


def test_what_failed_in_one_is_lost_not_compared() -> None:
    ours, theirs = records({}, {}), records({}, {"status": "timeout"})
    found = agreement(ours, theirs, ours, saturated=True)
    assert (found.num_compared, found.num_lost) == (1, 1)


def test_nothing_in_common_measures_nothing() -> None:
    found = agreement(records({"request_id": "a"}), records({"request_id": "b"}), records({}), saturated=True)
    assert (found.num_compared, found.num_lost) == (0, 2)
    assert (found.ttft_mean_pct, found.order_tau, found.welfare_pct, found.hit_rate_pp) == (None, None, None, None)


def test_means_over_runs() -> None:
    run = records({"server_ttft_s": 1.0}, {})
    slow = records({"server_ttft_s": 2.0}, {})
    several = [agreement(run, run, run, saturated=True), agreement(slow, run, run, saturated=True)]
    merged = mean_agreement(several)
    assert merged is not None
    assert merged.ttft_mean_pct == pytest.approx(50 / 2)
    assert merged.num_compared == 4
    assert mean_agreement([]) is None

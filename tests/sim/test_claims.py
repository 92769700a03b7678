"""What the paper claims and a faithful simulation shows, on mixshare-50 at n = Q = 1,024, serial (MATH.md, last table).

Serial: one request in flight, one output token. Ten seeds, as values have infinite variance.
"""

from typing import Any

import numpy as np
import pytest

from backends.simulated import Simulated
from sim.scenario import load_scenario
from sim.simulate import run


@pytest.fixture(scope="module")
def schedules() -> dict[str, Any]:
    scenario = load_scenario("mixshare-50", {"simulated": Simulated}, ["batching.size=1024"], trials=10)
    assert scenario.dispatch.in_flight == 1
    return run(scenario, scenario.backend.config, records=False).summary["schedules"]


def test_the_auction_beats_a_random_order_by_10_to_25_percent(schedules: dict[str, Any]) -> None:
    assert 10 <= schedules["dfs-bid"]["welfare_pct_over_random"]["mean"] <= 25


def test_auctioning_costs_no_cache_hits(schedules: dict[str, Any]) -> None:
    rates = [schedules[name]["hit_rate"]["mean"] for name in ("dfs-bid", "dfs-uniform")]
    assert abs(rates[0] - rates[1]) < 0.01


def test_sorting_by_bid_alone_is_slower(schedules: dict[str, Any]) -> None:
    pairs = zip(schedules["bid-sort"]["trials"], schedules["dfs-bid"]["trials"], strict=True)
    assert 1.3 <= np.mean([sort["mean_ttft_ms"] / dfs["mean_ttft_ms"] for sort, dfs in pairs]) <= 1.7


def test_the_gap_to_sorting_by_bid(schedules: dict[str, Any]) -> None:
    # MATH.md gives 17–23 % for all mixes and the paper 19–22 %. The trie of accidental sharing as MATH.md defines it
    # gives 16.4 ± 0.3 % in a reimplementation of workload and schedule apart from this code (15 seeds): below
    # the range, and reported as such, so the bound here is that figure's and not the range's.
    pairs = zip(schedules["dfs-bid"]["trials"], schedules["bid-sort"]["trials"], strict=True)
    gap = np.mean([1 - dfs["welfare"] / sort["welfare"] for dfs, sort in pairs])
    assert 0.155 <= gap <= 0.23


def test_only_auctions_raise_revenue(schedules: dict[str, Any]) -> None:
    revenue = {name: metrics["revenue"]["mean"] for name, metrics in schedules.items()}
    assert revenue["bid-sort"] > revenue["dfs-bid"] > 0
    assert revenue["dfs-uniform"] == revenue["no-sort"] == 0

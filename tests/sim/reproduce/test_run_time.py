"""Payments by definition are the fast ones, and every size is timed as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from backends.simulated import Simulated
from mechanism.model import Auction
from mechanism.pricing.vcg import Vcg
from mechanism.radix_tree import build_tree
from mechanism.scheduling.dfs_bid import DfsBid
from sim.population import make_requests
from sim.reproduce.run_time import LONG, SHORT, measure_run_times, naive_vcg
from sim.scenario import load_scenario

BACKENDS = {"simulated": Simulated}


def test_the_definition_gives_the_fast_payments() -> None:
    scenario = load_scenario("mixshare-sweep", BACKENDS, ["workload.num_requests=60"])
    requests, _ = make_requests(scenario, 0)
    tree = build_tree(requests.prompts)
    auction = Auction(tree=tree, bids=requests.value, users=requests.user % 7, num_users=7)
    order = DfsBid().order(auction)
    assert naive_vcg(auction, order) == pytest.approx(Vcg().charge(auction, order), rel=1e-9, abs=1e-9)


def test_all_parts_of_all_sizes_are_timed() -> None:
    seen: list[tuple[int, int]] = []
    times = measure_run_times(
        BACKENDS, seed=0, trials=2, sizes={LONG: (16, 32), SHORT: (64,)}, progress=lambda *done: seen.append(done)
    )
    assert [(row.series, row.n, len(row.tree_s)) for row in times.rows] == [
        (LONG, 16, 2),
        (LONG, 32, 2),
        (SHORT, 64, 2),
    ]
    assert all(min(*row.tree_s, *row.schedule_s, *row.payments_s) > 0 for row in times.rows)
    assert times.row(SHORT, 64).naive_s is None
    assert times.row(SHORT, 64).prompt_tokens == pytest.approx(20.0)
    assert seen[-1] == (2 * (16 + 32 + 64), 2 * (16 + 32 + 64))
    assert np.all(times.market_s(LONG, 16) == np.add(times.row(LONG, 16).schedule_s, times.row(LONG, 16).payments_s))

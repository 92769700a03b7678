"""Every plugin in `mechanism/bidding` keeps what the protocol promises; a new file is picked up by itself.

An agent whose parameters have no defaults is tried with the ones in PARAMETERS.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from mechanism.clearing import clear
from mechanism.model import Auction, Bidder, BiddingSetting
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree
from mechanism.scheduling.dfs_bid import DfsBid
from sim.plugins import available, load

FOLDER = "mechanism.bidding"
PARAMETERS: dict[str, dict[str, Any]] = {"pacing": {"budget": 2.0, "horizon": 8}, "shading": {"factor": 0.5}}
USERS = 4


def agent(name: str) -> Any:
    return load(FOLDER, name)(**PARAMETERS.get(name, {}))


def start(name: str) -> Bidder:
    spend, rng = np.full(USERS, 4.0), np.random.default_rng(0)
    bidder: Bidder = agent(name).start(BiddingSetting(num_users=USERS, num_auctions=8, truthful_spend=spend, rng=rng))
    return bidder


def play(bidder: Bidder, seed: int, *, others: float = 1.0) -> tuple[list[list[float]], list[list[float]]]:
    """Eight auctions; what user 0 bids, and how he stands after each. The values of other users are scaled by `others`,
    and they pay what is charged; user 0 pays a tenth of what he bids.
    """
    rng = np.random.default_rng(seed)
    said, stood = [], []
    for _ in range(8):
        n = int(rng.integers(1, 7))
        users = rng.integers(0, USERS, n)
        values = rng.pareto(1.5, n) * np.where(users == 0, 1.0, others)
        bids = bidder.bid(values, values, users)
        assert bids.shape == (n,)
        assert bids.dtype == np.float64
        assert np.all(np.isfinite(bids))
        assert np.all(bids >= 0)
        present = np.unique(users)
        charged = np.array([0.1 * bids[users == user].sum() for user in present])
        standing = bidder.settle(present, charged)
        assert standing.multiplier.shape == standing.budget_left.shape == present.shape
        said.append(bids[users == 0].tolist())
        stood.append([*standing.multiplier[present == 0], *standing.budget_left[present == 0]])
    return said, stood


@pytest.mark.parametrize("name", available(FOLDER))
class TestAgent:
    def test_is_a_frozen_dataclass_that_says_what_it_needs(self, name: str) -> None:
        kind = load(FOLDER, name)
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen
        assert kind.__doc__
        assert agent(name) == agent(name)
        assert isinstance(agent(name).keeps_a_budget, bool)
        assert agent(name).needs <= {"num_auctions", "truthful_spend"}

    def test_bids_are_numbers_and_a_fresh_start_remembers_nothing(self, name: str) -> None:
        first = play(start(name), 1)
        assert repr(play(start(name), 1)) == repr(first)  # NaN is not itself

    def test_a_user_sees_nothing_of_others(self, name: str) -> None:
        assert repr(play(start(name), 2, others=1.0)) == repr(play(start(name), 2, others=30.0))

    def test_a_kept_budget_is_kept_under_the_real_mechanism(self, name: str) -> None:
        if not agent(name).keeps_a_budget:
            assert np.isnan(start(name).settle(np.array([0]), np.array([0.0])).budget_left).all()
            return
        rng, bidder = np.random.default_rng(3), start(name)
        paid = np.zeros(USERS)
        for _ in range(8):
            users = rng.integers(0, USERS, 12)
            prompts = Prompts.from_lists([[int(rng.integers(3)), request] for request in range(12)])
            values = rng.pareto(1.5, 12) + 1
            bids = bidder.bid(values, values, users)
            auction = Auction(tree=build_tree(prompts), bids=bids, users=users, num_users=USERS)
            payments = clear(auction, DfsBid(), Vcg()).payments
            standing = bidder.settle(np.arange(USERS), payments)
            paid += payments
            assert np.all(paid <= PARAMETERS[name]["budget"])
            assert np.all(standing.budget_left >= 0)

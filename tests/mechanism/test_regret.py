"""The hindsight bound against clearing every auction, and against every policy that could have been played."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from auction_kit import auction_of

from mechanism.clearing import clear
from mechanism.forest import Forest
from mechanism.model import Auction
from mechanism.pricing.vcg import Vcg
from mechanism.radix_tree import star_tree
from mechanism.regret import Hindsight, regret_of
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.welfare import priority


def random_season(seed: int, num_auctions: int, largest: int = 7) -> list[tuple[Auction, np.ndarray]]:
    """Auctions of users 0 and 1 with requests' values; some without user 0, some of one request."""
    rng = np.random.default_rng(seed)
    season = []
    for _ in range(num_auctions):
        n = int(rng.integers(1, largest + 1))
        rows = [[int(rng.integers(3)), int(rng.integers(2))] for _ in range(n)]
        values = rng.integers(0, 12, n).astype(float)
        season.append((auction_of(rows, values.tolist(), rng.integers(0, 2, n).tolist(), 2), values))
    return season


def hindsight(season: list[tuple[Auction, np.ndarray]]) -> Hindsight:
    auctions = [auction for auction, _ in season]
    return Hindsight(
        [auction.tree for auction in auctions],
        [values for _, values in season],
        [auction.bids for auction in auctions],
        [auction.users == 0 for auction in auctions],
    )


def played(auction: Auction, values: np.ndarray, bids: np.ndarray) -> tuple[float, float]:
    """User 0's value obtained and payment, from clearing the auction."""
    told = np.where(auction.users == 0, bids, auction.bids)
    outcome = clear(Auction(tree=auction.tree, bids=told, users=auction.users, num_users=2), DfsBid(), Vcg())
    mine = auction.users == 0
    return float((values * priority(outcome.order))[mine].sum()), float(outcome.payments[0])


@pytest.mark.parametrize("seed", range(5))
def test_value_and_payment_are_those_of_the_mechanism(seed: int) -> None:
    season = random_season(seed, 12)
    found = hindsight(season)
    for mu in (0.0, 0.37, 2.0, 50.0):
        value, paid = found.outcome(mu)
        expected = [played(auction, values, values / (1 + mu)) for auction, values in season]
        assert value == pytest.approx([v for v, _ in expected], abs=1e-9)
        assert paid == pytest.approx([p for _, p in expected], abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_policy_within_the_budget_beats_the_bound(seed: int) -> None:
    # All bids that can make a difference, for every request: between any two other bids, and at them.
    season = random_season(seed, 3, largest=3)
    found = hindsight(season)
    options = []
    for auction, values in season:
        grid = [0.0, 0.5, 1.5, 3.0, 4.5, 6.5, 9.0, 13.0, 26.0, 60.0]
        mine = np.flatnonzero(auction.users == 0)
        outcomes = {(0.0, 0.0)} if len(mine) == 0 else set()
        for bids in itertools.product(grid, repeat=len(mine)):
            told = np.zeros(len(values))
            told[mine] = bids
            outcomes.add(played(auction, values, told))
        outcomes.add(played(auction, values, values))
        options.append(sorted(outcomes))
    truthful = sum(played(auction, values, values)[1] for auction, values in season)
    for share in (0.0, 0.3, 0.7, 1.0):
        budget = share * truthful
        best = max(
            sum(value - paid for value, paid in chosen)
            for chosen in itertools.product(*options)
            if sum(paid for _, paid in chosen) <= budget + 1e-12
        )
        assert found.bound(budget).value >= best - 1e-9
    assert found.bound(truthful).mu == 0.0
    assert found.bound(truthful).value == pytest.approx(
        sum(v - p for v, p in (played(auction, values, values) for auction, values in season))
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_the_minimum(seed: int) -> None:
    season = random_season(seed, 10)
    found = hindsight(season)
    _, paid = found.outcome(0.0)
    budget = 0.4 * paid.sum()
    best = found.bound(budget)
    assert best.mu > 0

    def dual(mu: float) -> float:
        value, paid = found.outcome(mu)
        return float((value - (1 + mu) * paid).sum() + mu * budget)

    assert best.value == pytest.approx(dual(best.mu))
    grid = np.concatenate((np.linspace(0, 3 * best.mu, 400), best.mu * (1 + np.linspace(-0.01, 0.01, 100))))
    assert best.value <= min(map(dual, grid.tolist())) + 1e-9 * best.value


def test_by_hand() -> None:
    # Two auctions of two requests, his against a bid of 4: his 6 pays 4 for the first place. With a budget of 4 he can
    # win one of them, for a utility of 2; half of each is what the bound allows: at 6/(1+μ) = 4, μ = ½, G = 2·0 + ½·4.
    auction = auction_of([[1], [2]], [6.0, 4.0])
    found = hindsight([(auction, np.array([6.0, 4.0]))] * 2)
    bound = found.bound(4.0)
    assert bound.mu == pytest.approx(0.5)
    assert bound.value == pytest.approx(2.0)
    assert regret_of(bound, np.array([2.0, 0.0])) == pytest.approx([-1.0, 0.0])
    assert found.bound(0.0).value == pytest.approx(0.0, abs=1e-6)


def test_without_requests_there_is_nothing_to_regret() -> None:
    auction = auction_of([[1], [2]], [6.0, 4.0], [1, 1], 2)
    bound = hindsight([(auction, np.array([6.0, 4.0]))]).bound(3.0)
    assert (bound.value, bound.spend, bound.mu) == (0.0, 0.0, 0.0)


def test_a_forest_serves_every_auction_as_it_would_be_alone() -> None:
    season = [auction for auction, _ in random_season(9, 15)]
    bids = np.concatenate([auction.bids for auction in season])
    for trees, rule in (
        ([auction.tree for auction in season], DfsBid()),
        ([star_tree(len(auction)) for auction in season], BidSort()),
    ):
        forest = Forest.of(trees)
        alone = np.concatenate([priority(rule.order(auction)) for auction in season])  # type: ignore[attr-defined]
        assert forest.priority(bids).tolist() == alone.tolist()
        assert forest.sums(bids).tolist() == pytest.approx([auction.bids.sum() for auction in season])

"""The pacing autobidder, with multipliers worked out by hand from MATH.md's Algorithm 3."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.bidding._budgets import LognormalBudget, TruthfulFraction, UniformBudget, budgets
from mechanism.bidding.pacing import Pacing
from mechanism.errors import MechanismError
from mechanism.model import BiddingSetting

ONE = np.array([0])


def setting(num_users: int = 1, num_auctions: int | None = None, spend: list[float] | None = None) -> BiddingSetting:
    truthful = None if spend is None else np.array(spend)
    rng = np.random.default_rng(0)
    return BiddingSetting(num_users=num_users, num_auctions=num_auctions, truthful_spend=truthful, rng=rng)


def test_mu_moves_by_what_is_overspent() -> None:
    # B = 8, T = 4: γ = 2, η = 1/(2·√4) = 1/4. Paying 4 moves μ by 1/4·(4 − 2) = 1/2, then paying 1 by −1/4.
    pacer = Pacing(budget=8.0, horizon=4).start(setting())
    values = np.array([3.0])
    assert pacer.bid(values, values, ONE).tolist() == [3.0]
    standing = pacer.settle(ONE, np.array([4.0]))
    assert (standing.multiplier.tolist(), standing.budget_left.tolist()) == ([1.0], [4.0])
    assert pacer.mu.tolist() == [0.5]
    assert pacer.bid(values, values, ONE).tolist() == [2.0]  # α = 1/1.5
    assert pacer.settle(ONE, np.array([1.0])).multiplier.tolist() == pytest.approx([2 / 3])
    assert pacer.mu.tolist() == [0.25]


def test_mu_stays_between_0_and_its_maximum() -> None:
    pacer = Pacing(budget=4.0, horizon=4, step=2.0, max_mu=1.5).start(setting())
    pacer.settle(ONE, np.array([0.0]))
    assert pacer.mu.tolist() == [0.0]  # would be −1
    pacer.settle(ONE, np.array([4.0]))
    assert pacer.mu.tolist() == [1.5]  # would be 3


def test_an_auction_without_requests_counts() -> None:
    pacer = Pacing(budget=8.0, horizon=4).start(setting())
    pacer.settle(ONE, np.array([4.0]))
    nobody, nothing = np.array([], dtype=np.int64), np.array([])
    assert pacer.bid(nothing, nothing, nobody).tolist() == []
    pacer.settle(nobody, nothing)
    assert pacer.mu.tolist() == [0.0]  # 1/2 − 1/4·2
    assert pacer.auctions == 2


def test_bids_are_scaled_down_to_what_is_left() -> None:
    pacer = Pacing(budget=8.0, horizon=4).start(setting())
    values = np.array([30.0, 10.0])
    bids = pacer.bid(values, values, np.array([0, 0]))
    assert bids.tolist() == pytest.approx([6.0, 2.0])
    assert bids.sum() < 8.0  # a billionth is kept back for rounding
    assert pacer.settle(ONE, np.array([5.0])).multiplier.tolist() == pytest.approx([0.2])


def test_nothing_is_bid_without_a_budget() -> None:
    pacer = Pacing(budget=0.0, horizon=3).start(setting())
    assert pacer.bid(np.array([5.0]), np.array([5.0]), ONE).tolist() == [0.0]
    pacer.settle(ONE, np.array([0.0]))
    assert pacer.mu.tolist() == [0.0]


def test_a_charge_above_what_is_left_is_an_error() -> None:
    pacer = Pacing(budget=1.0, horizon=3).start(setting())
    with pytest.raises(MechanismError, match="user 0 was charged"):
        pacer.settle(ONE, np.array([1.5]))


def test_a_budget_that_renews_begins_anew() -> None:
    pacer = Pacing(budget=4.0, horizon=2, renews=True).start(setting())
    for paid in (3.0, 1.0):
        pacer.bid(np.array([1.0]), np.array([1.0]), ONE)
        pacer.settle(ONE, np.array([paid]))
    assert pacer.budget_left.tolist() == [0.0]
    assert pacer.bid(np.array([1.0]), np.array([1.0]), ONE).tolist() == [1.0]
    assert (pacer.budget_left.tolist(), pacer.mu.tolist(), pacer.auctions) == ([4.0], [0.0], 0)


@given(
    st.lists(st.lists(st.floats(0, 1e12, allow_subnormal=False), min_size=1, max_size=4), min_size=1, max_size=30),
    st.floats(1e-9, 1e9),
)
@settings(max_examples=200, deadline=None)
def test_the_budget_is_never_exceeded_even_if_every_bid_is_paid(batches: list[list[float]], budget: float) -> None:
    pacer = Pacing(budget=budget, horizon=len(batches), step=0.1).start(setting())
    spent, float_spent = Fraction(0), 0.0
    for batch in batches:
        values = np.array(batch)
        bids = pacer.bid(values, values, np.zeros(len(batch), dtype=np.int64))
        paid = float(np.sum(bids))
        pacer.settle(ONE, np.array([paid]))
        spent, float_spent = spent + Fraction(paid), float_spent + paid
        assert spent <= Fraction(budget)
        assert float_spent <= budget


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_a_user_sees_nothing_of_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mine = rng.pareto(1.5, 2)
    bids = []
    for others in (1.0, 100.0):  # whatever the others value and pay
        pacer = Pacing(budget=3.0, horizon=5).start(setting(2))
        said = []
        for _ in range(5):
            values = np.concatenate((mine, [others]))
            said.append(pacer.bid(values, values, np.array([0, 0, 1]))[:2].tolist())
            pacer.settle(np.array([0, 1]), np.array([said[-1][0] / 2, 0.5 if others > 1 else 0.0]))
        bids.append(said)
    assert bids[0] == bids[1]


def test_budgets_of_every_kind() -> None:
    four = setting(4, spend=[10.0, 20.0, 30.0, 40.0])
    assert budgets(5, four).tolist() == [5.0] * 4
    assert budgets(TruthfulFraction(kind="truthful-fraction", fraction=0.5), four).tolist() == [5, 10, 15, 20]
    spread = budgets(TruthfulFraction(kind="truthful-fraction", fraction=(0.1, 1.0)), four)
    assert sorted((spread / four.truthful_spend).tolist()) == pytest.approx([0.1, 0.4, 0.7, 1.0])
    uniform = budgets(UniformBudget(kind="uniform", low=1.0, high=2.0), setting(1000))
    assert (uniform.min() >= 1, uniform.max() <= 2, abs(uniform.mean() - 1.5) < 0.05) == (True, True, True)
    lognormal = budgets(LognormalBudget(kind="lognormal", median=3.0, sigma=1.0), setting(1000))
    assert np.median(lognormal) == pytest.approx(3.0, rel=0.1)
    assert np.log(lognormal).std() == pytest.approx(1.0, rel=0.1)


def test_what_pacing_needs_to_know() -> None:
    share = TruthfulFraction(kind="truthful-fraction", fraction=0.5)
    assert Pacing(budget=1.0).needs == {"num_auctions"}
    assert Pacing(budget=1.0, horizon=3).needs == set()
    assert Pacing(budget=share, horizon=3).needs == {"truthful_spend"}
    with pytest.raises(MechanismError, match="not measured"):
        Pacing(budget=share, horizon=3).start(setting())


@pytest.mark.parametrize(
    "wrong",
    [{"budget": -1.0}, {"budget": math.nan}, {"step": 0.0}, {"max_mu": -1.0}, {"horizon": 0}, {"renews": True}],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(MechanismError):
        Pacing(**{"budget": 1.0, **wrong})  # type: ignore[arg-type]


def test_fractions_and_intervals_must_be_ordered() -> None:
    with pytest.raises(ValueError, match="not"):
        TruthfulFraction(kind="truthful-fraction", fraction=(1.0, 0.1))
    with pytest.raises(ValueError, match="not"):
        UniformBudget(kind="uniform", low=2.0, high=1.0)
    with pytest.raises(ValueError, match="not"):
        LognormalBudget(kind="lognormal", median=0.0, sigma=1.0)

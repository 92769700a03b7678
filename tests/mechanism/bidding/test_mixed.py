import numpy as np

from mechanism.bidding._mixed import Mixed, assign
from mechanism.bidding.pacing import Pacing
from mechanism.bidding.shading import Shading
from mechanism.bidding.truthful import Truthful
from mechanism.model import BiddingSetting


def setting(num_users: int) -> BiddingSetting:
    rng = np.random.default_rng(0)
    return BiddingSetting(num_users=num_users, num_auctions=4, truthful_spend=None, rng=rng)


def test_each_user_has_his_own_kind_of_agent() -> None:
    pacer = Pacing(budget=8.0).start(setting(2))
    mixed = Mixed([Truthful().start(setting(1)), pacer, Shading(factor=0.5).start(setting(1))], np.array([1, 0, 1, 2]))
    users, values = np.array([3, 2, 1, 0, 2]), np.array([2.0, 3.0, 4.0, 5.0, 1.0])
    assert mixed.bid(values, values, users).tolist() == [1.0, 3.0, 4.0, 5.0, 1.0]
    standing = mixed.settle(np.array([0, 1, 2, 3]), np.array([1.0, 9.0, 4.0, 0.0]))
    assert standing.multiplier.tolist() == [1.0, 1.0, 1.0, 0.5]
    assert np.isnan(standing.budget_left).tolist() == [False, True, False, True]
    assert standing.budget_left[[0, 2]].tolist() == [7.0, 4.0]
    # Only user 2 overspent γ = 2: by 2, so μ = 1/4·2.
    assert pacer.mu.tolist() == [0.0, 0.5]
    assert mixed.bid(values, values, users).tolist() == [1.0, 2.0, 4.0, 5.0, 2 / 3]


def test_agents_of_absent_users_hear_of_the_auction() -> None:
    pacer = Pacing(budget=8.0).start(setting(1))
    mixed = Mixed([Truthful().start(setting(1)), pacer], np.array([0, 1]))
    mixed.settle(np.array([0]), np.array([1.0]))
    assert pacer.auctions == 1


def test_users_are_shared_out_by_largest_remainder() -> None:
    rng = np.random.default_rng(1)
    assert np.bincount(assign(16, [0.5, 0.5], rng)).tolist() == [8, 8]
    assert np.bincount(assign(3, [0.2, 0.8], rng), minlength=2).tolist() == [1, 2]
    assert np.bincount(assign(1, [0.5, 0.5], rng), minlength=2).tolist() == [1, 0]
    assert assign(0, [1.0], rng).tolist() == []
    orders = {tuple(assign(6, [0.5, 0.5], np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert len(orders) > 5

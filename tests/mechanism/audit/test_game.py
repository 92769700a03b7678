"""What a lie brings, by hand: three requests of a star, priorities 1, ½, 0."""

import numpy as np
import pytest
from audit_kit import game_of

from mechanism.audit.game import Game, Lie
from mechanism.model import PricingRule, SchedulingRule
from mechanism.pricing.free import Free
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.fair import Fair


def star(values: list[float], users: list[int], pricing: PricingRule, schedule: SchedulingRule | None = None) -> Game:
    return game_of([[r] for r in range(len(values))], values, users, schedule or BidSort(), pricing)


def test_the_truth_under_pay_as_bid_leaves_nothing() -> None:
    game = star([4.0, 2.0, 1.0], [0, 1, 2], PayAsBid())
    assert game.truth.utility.tolist() == [0.0, 0.0, 0.0]
    assert game.truth.welfare == 5.0
    play = game.play(Lie(bids=np.array([2.5, 2.0, 1.0])))
    assert play.utility.tolist() == [1.5, 0.0, 0.0]
    assert play.welfare == 5.0


def test_utility_is_by_true_values() -> None:
    game = star([4.0, 2.0, 1.0], [0, 1, 2], Vcg())
    # Prices of the truth: user 0 displaces a 2 and a 1 by half each, user 1 a 1 by half.
    assert game.truth.utility.tolist() == [2.5, 0.5, 0.0]
    # User 2 bids 9 and is first: he gets 1 and pays ½·4 + ½·2; user 0 now gets ½·4 and pays ½·2.
    assert game.play(Lie(bids=np.array([4.0, 2.0, 9.0]))).utility.tolist() == [1.0, 0.0, -2.0]


def test_false_names_pay_for_themselves_and_their_owner_pays_all() -> None:
    game = star([4.0, 2.0, 1.0], [0, 0, 1], Vcg())
    # One name pays ½·1 for each of the two requests ahead of the third: 1. Two names: the first displaces a 2 and a 1.
    assert game.truth.utility.tolist() == [4.0, 0.0]
    assert game.play(Lie(bids=game.values, names=np.array([0, 2, 1]))).utility.tolist() == [3.0, 0.0]
    assert game.adds(Lie(bids=game.values, names=np.array([0, 2, 1])), 0) == -1.0


def test_false_names_jump_a_fair_queue() -> None:
    game = star([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 1], Free(), Fair())
    # Turns: 0, then user 1, then user 0's others: priorities 1, 1/3, 0; with a name each: 1, 2/3, 1/3.
    assert game.truth.utility.tolist() == pytest.approx([4 / 3, 2 / 3])
    assert game.adds(Lie(bids=game.values, names=np.array([0, 2, 3, 1])), 0) == pytest.approx(2 / 3)


def test_what_lies_add_beyond_the_same_bids_without_them() -> None:
    game = star([4.0, 2.0, 1.0], [0, 0, 1], PayAsBid())
    assert game.adds(Lie(bids=np.array([2.0, 1.5, 1.0]), names=np.array([0, 2, 1])), 0) == 0.0

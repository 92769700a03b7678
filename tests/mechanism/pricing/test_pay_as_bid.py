from fractions import Fraction

import pytest
from auction_kit import auction_of

from mechanism.clearing import clear
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.no_sort import NoSort

STAR = [[1], [2], [3]]


def test_everyone_pays_his_declared_value() -> None:
    auction = auction_of(STAR, [10.0, 4.0, 1.0], [0, 1, 1])
    assert clear(auction, DfsBid(), PayAsBid()).payments.tolist() == [10.0, 2.0]


def test_fractions_are_charged_exactly() -> None:
    bids = [Fraction(1, 3), Fraction(1, 7), Fraction(0)]
    assert clear(auction_of(STAR, bids), DfsBid(), PayAsBid()).payments.tolist() == [Fraction(1, 3), Fraction(1, 14), 0]


def test_bidding_just_enough_pays() -> None:
    value = 10.0
    honest, shaded = (clear(auction_of(STAR, [bid, 4.0, 1.0]), DfsBid(), PayAsBid()) for bid in (value, 4.5))
    assert honest.order[0] == shaded.order[0] == 0
    assert value - shaded.payments[0] == pytest.approx(5.5)
    assert value - honest.payments[0] == 0.0


def test_a_single_request_pays_nothing() -> None:
    assert clear(auction_of([[1]], [5.0]), NoSort(), PayAsBid()).payments.tolist() == [0.0]

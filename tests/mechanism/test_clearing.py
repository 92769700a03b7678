from dataclasses import replace

import numpy as np
import pytest
from auction_kit import TREE_OF_FOUR, auction_of, random_auctions

from mechanism.clearing import clear, request_payments
from mechanism.errors import MechanismError
from mechanism.model import Auction, Outcome
from mechanism.pricing.free import Free
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.no_sort import NoSort
from mechanism.welfare import priority


def test_bid_sort_pays_for_all_permutations() -> None:
    """Order by bid 6, 3.5, 2, 1, whatever the tree; 6 delays the other three by a third each."""
    outcome = clear(auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.5]), BidSort(), Vcg())
    assert outcome.order.tolist() == [2, 3, 1, 0]
    assert outcome.payments.tolist() == pytest.approx([0.0, 1 / 3, 6.5 / 3, 1.0])


def test_a_payment_without_meaning_under_the_schedule_is_refused() -> None:
    with pytest.raises(MechanismError, match="Vcg is not defined under NoSort"):
        clear(auction_of(TREE_OF_FOUR, [1.0] * 4), NoSort(), Vcg())


@pytest.mark.parametrize("schedule", [DfsBid(), BidSort(), NoSort()])
@pytest.mark.parametrize("n", [0, 1])
def test_none_or_one_request(schedule: DfsBid | BidSort | NoSort, n: int) -> None:
    outcome = clear(auction_of([[1, 2]] * n, [3.0] * n), schedule, Free() if schedule == NoSort() else Vcg())
    assert outcome.order.tolist() == list(range(n))
    assert outcome.payments.tolist() == [0.0] * n


def broken() -> list[Auction]:
    auction = auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.5])
    bids = [[1.0, -1.0, 0, 0], [1.0, np.nan, 0, 0], [np.inf, 0, 0, 0], [1e308, 1e308, 0, 0], [1.0, 2.0]]
    wrong_bids = [replace(auction, bids=np.array(each)) for each in bids]
    users = [[0, 1, 2, 4], [0, 1, 2, -1], [0]]
    return [*wrong_bids, *(replace(auction, users=np.array(each)) for each in users)]


@pytest.mark.parametrize("auction", broken())
def test_malformed_auctions_are_refused(auction: Auction) -> None:
    with pytest.raises(MechanismError, match="auction: "):
        clear(auction, DfsBid(), Vcg())


def test_a_payment_is_split_in_proportion_to_declared_value() -> None:
    auction = auction_of([[1], [2], [3]], [10.0, 6.0, 4.0], [0, 1, 0])
    split = request_payments(auction, Outcome(np.array([0, 2, 1]), np.array([6.0, 0.0])))  # b·x = 10 and 2
    assert split.tolist() == [5.0, 0.0, 1.0]


def test_who_declared_nothing_is_charged_nothing() -> None:
    auction = auction_of([[1], [2]], [3.0, 5.0])  # request 1 is last: x = 0
    assert request_payments(auction, Outcome(np.array([0, 1]), np.array([1.0, 0.0]))).tolist() == [1.0, 0.0]


def test_what_a_rule_charges_against_all_reason_is_split_evenly() -> None:
    auction = auction_of([[1], [2], [3]], [0.0, 5.0, 0.0], [0, 1, 0], num_users=3)  # user 2 has no request
    assert request_payments(auction, Outcome(np.array([1, 0, 2]), np.array([4.0, 0.0, 0.0]))).tolist() == [
        2.0,
        0.0,
        2.0,
    ]


def test_rounding_does_not_lift_a_share_above_declared_value() -> None:
    auction = auction_of([[i] for i in range(6)], [0.4, 0.2, 0.09, 0.58, 0.3, 0.67], [0, 1, 0, 1, 1, 0])
    outcome = clear(auction, DfsBid(), PayAsBid())
    assert np.all(request_payments(auction, outcome) <= auction.bids * priority(outcome.order))


def test_shares_add_up_and_never_exceed_declared_value() -> None:
    for auction in random_auctions(60, max_requests=12, seed=5):
        outcome = clear(auction, DfsBid(), Vcg())
        split = request_payments(auction, outcome)
        totals = np.bincount(auction.users, weights=split, minlength=auction.num_users)
        assert totals == pytest.approx(outcome.payments, rel=1e-12, abs=1e-12)
        assert np.all(split <= auction.bids * priority(outcome.order))

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from auction_kit import TREE_OF_FOUR, auction_of

from mechanism.clearing import clear
from mechanism.errors import MechanismError
from mechanism.pricing.vcg import Vcg
from mechanism.radix_tree import star_tree
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.dfs_uniform import DfsUniform
from mechanism.scheduling.no_sort import NoSort
from mechanism.welfare import requests_after


def pay(rows: list[list[int]], bids: list[float], users: list[int] | None = None) -> list[float]:
    return clear(auction_of(rows, bids, users), DfsBid(), Vcg()).payments.tolist()


def test_in_a_star_each_pays_the_bids_he_delays() -> None:
    # order 0, 1, 2: without 0 the bids 4 and 1 move up one place of two each
    assert pay([[1], [2], [3]], [10.0, 4.0, 1.0]) == [(4 + 1) / 2, 1 / 2, 0.0]


def test_a_subtree_is_overtaken_when_its_average_falls_below_the_next() -> None:
    # Families {0, 1} of average 5 and {2} of 3. Without request 0 the first has average ½ and N·F − G·N = 2·3 − 1·1 = 5
    # at the root; inside it request 1 gains 1·1. Without request 1 it keeps average 4½: nobody moves.
    assert pay([[1, 1], [1, 2], [2]], [9.0, 1.0, 3.0]) == [(5 + 1) / 2, 0.0, 0.0]


def test_a_user_of_two_requests_does_not_pay_for_delaying_himself() -> None:
    # both requests of user 0 stand before 4 and 1; those two pass both
    assert pay([[1], [2], [3], [4]], [10.0, 9.0, 4.0, 1.0], [0, 0, 1, 2]) == [(2 * 4 + 2 * 1) / 3, 1 / 3, 0.0]


def test_two_subtrees_weakened_by_one_user_change_places() -> None:
    # User 0 bids 8 in family A and 1 in B; others bid 1 in A and 4 in B. A/B averages 4½ and 2½; without him ½ and 2.
    # B passes A: N_A·G_B − G_A·N_B = 2·4 − 1·2 = 6; inside A his place is worth 1·1 to request 1; B's 4 was ahead.
    assert pay([[1, 1], [1, 2], [2, 1], [2, 2]], [8.0, 1.0, 1.0, 4.0], [0, 1, 0, 2]) == [(6 + 1) / 3, 0.0, 1 / 3]


@pytest.mark.parametrize("bids", list(itertools.permutations([10.0, 10.0, 3.0])))
def test_the_winner_of_a_tie_pays_the_second_bid_not_the_third(bids: tuple[float, ...]) -> None:
    """With bids 10, 10, 3 the first place over the second is worth 10·½, whoever stands there (a published fault)."""
    auction = auction_of([[1], [2], [3]], bids)
    outcome = clear(auction, BidSort(), Vcg())
    first, second, third = outcome.order.tolist()
    paid = outcome.payments
    assert (paid[first], paid[second], paid[third]) == ((10 + 3) / 2, 3 / 2, 0.0)
    assert paid[first] - paid[second] == 10 * 0.5


def test_one_request_pays_nothing() -> None:
    assert pay([[1, 2]], [5.0]) == [0.0]
    assert Vcg().charge(auction_of([], []), np.empty(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("rows", [TREE_OF_FOUR, [[3, 3]] * 4, [[]] * 4, [[0] * depth for depth in range(4)]])
def test_a_sole_bidder_pays_nothing(rows: list[list[int]]) -> None:
    assert pay(rows, [0.0, 0.7, 0.1, 0.0], [0, 1, 1, 2]) == [0.0, 0.0, 0.0]
    assert pay(rows, [0.3, 0.7, 0.1, 0.2], [0, 0, 0, 0]) == [0.0]


def test_nobody_pays_a_rounding_more_than_he_declared() -> None:
    auction = auction_of([[0], [0, 0], [0], [1, 0], [0]], [0.1, 0.2, 0.6, 0.3, 0.3])
    outcome = clear(auction, DfsBid(), Vcg())
    assert np.all(outcome.payments <= auction.bids * requests_after(outcome.order) / 4)


def test_a_tiny_bid_is_not_lost_beside_a_huge_one() -> None:
    assert pay([[1], [2]], [44721429.52488365, 1.2106969184641793e-11]) == [1.2106969184641793e-11, 0.0]


def test_rounding_charges_nobody() -> None:
    """Sums of these bids differ by rounding with the order of their terms; where nobody is overtaken, 0 is 0."""
    assert pay([[0, 1], [1], [0, 0], [0, 0], [1]], [0.5, 0.7, 0.8, 0.1, 0.6], [0] * 5) == [0.0]
    rows, bids = [[2], [2], [1, 2], [0, 2], [1], [1, 1], [0, 2]], [0.8, 0.9, 0.6, 0.1, 0.7, 0.3, 0.7]
    assert pay(rows, bids, [1, 0, 0, 0, 0, 1, 0])[1] == 0.0


def test_nobody_bids() -> None:
    assert pay(TREE_OF_FOUR, [0.0] * 4) == [0.0] * 4


def test_ties_move_payments_but_not_utilities() -> None:
    rows, bids = [[1], [2], [3]], [4.0, 4.0, 4.0]
    outcome = clear(auction_of(rows, bids), DfsBid(), Vcg())
    assert outcome.payments.tolist() == [4.0, 2.0, 0.0]
    utilities = [4 * x - p for x, p in zip([1.0, 0.5, 0.0], outcome.payments, strict=True)]
    assert utilities == [0.0, 0.0, 0.0]


def test_all_optimal_orders_are_priced() -> None:
    auction = auction_of([[1], [2], [3]], [4.0, 4.0, 4.0])
    assert Vcg().charge(auction, np.array([2, 0, 1])).tolist() == [2.0, 0.0, 4.0]


def test_averages_equal_but_for_rounding_may_stand_in_either_order() -> None:
    auction = auction_of([[1, 1], [1, 2], [1, 3], [2]], [0.1, 0.4, 0.4, 0.3])  # in binary the first average is higher
    for order in ([1, 2, 0, 3], [3, 2, 1, 0]):
        Vcg().charge(auction, np.array(order))


@pytest.mark.parametrize("order", [[2, 1, 0, 3], [1, 0, 2, 3]])
def test_an_order_that_is_not_optimal_is_refused(order: list[int]) -> None:
    auction = auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.5])
    for case in (auction, replace(auction, bids=np.array([Fraction(bid) for bid in auction.bids], dtype=object))):
        with pytest.raises(MechanismError, match="does not maximise declared welfare"):
            Vcg().charge(case, np.array(order))


def test_an_order_that_is_not_depth_first_is_refused() -> None:
    with pytest.raises(MechanismError, match="no depth-first schedule"):
        Vcg().charge(auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.5]), np.array([2, 3, 1, 0]))


def test_permutations_are_priced_on_the_star() -> None:
    auction = replace(auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.5]), tree=star_tree(4))
    assert Vcg().charge(auction, np.array([2, 3, 1, 0])).tolist() == pytest.approx([0, 1 / 3, 6.5 / 3, 3 / 3])


def test_defined_where_welfare_is_maximised() -> None:
    rules = [DfsBid(), BidSort(), DfsUniform(), NoSort()]
    assert [Vcg().defined_for(rule) for rule in rules] == [True, True, False, False]

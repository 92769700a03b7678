from fractions import Fraction

from auction_kit import TREE_OF_FOUR, auction_of

from mechanism.scheduling.bid_sort import BidSort


def test_highest_first_ties_by_arrival() -> None:
    assert BidSort().order(auction_of(TREE_OF_FOUR, [1.0, 5.0, 1.0, 5.0])).tolist() == [1, 3, 0, 2]


def test_many_ties_stay_in_arrival_order() -> None:
    bids = [float(request % 3) for request in range(500)]
    want = sorted(range(500), key=lambda request: (-bids[request], request))
    assert BidSort().order(auction_of([[1]] * 500, bids)).tolist() == want


def test_fractions() -> None:
    bids = [Fraction(1, 3), Fraction(1, 2), Fraction(1, 3), Fraction(0)]
    assert BidSort().order(auction_of(TREE_OF_FOUR, bids)).tolist() == [1, 0, 2, 3]

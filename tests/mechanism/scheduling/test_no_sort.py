from auction_kit import TREE_OF_FOUR, auction_of

from mechanism.scheduling.no_sort import NoSort


def test_arrival_order() -> None:
    assert NoSort().order(auction_of(TREE_OF_FOUR, [1.0, 5.0, 1.0, 5.0])).tolist() == [0, 1, 2, 3]

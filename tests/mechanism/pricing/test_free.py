from auction_kit import TREE_OF_FOUR, auction_of

from mechanism.clearing import clear
from mechanism.pricing.free import Free
from mechanism.scheduling.dfs_bid import DfsBid


def test_nobody_pays() -> None:
    auction = auction_of(TREE_OF_FOUR, [1.0, 2.0, 3.0, 4.0], [0, 0, 2, 1])
    assert clear(auction, DfsBid(), Free()).payments.tolist() == [0.0, 0.0, 0.0]

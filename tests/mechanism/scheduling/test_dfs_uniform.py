from auction_kit import TREE_OF_FOUR, auction_of

from mechanism.scheduling.dfs_uniform import DfsUniform


def test_children_in_arrival_order() -> None:
    rows = [[1], [7, 9], [7], [7, 8], [1, 1]]
    assert DfsUniform().order(auction_of(rows, [0.0, 1.0, 2.0, 3.0, 4.0])).tolist() == [0, 4, 1, 2, 3]


def test_bids_do_not_matter() -> None:
    orders = {
        tuple(DfsUniform().order(auction_of(TREE_OF_FOUR, bids)).tolist()) for bids in ([0, 0, 0, 9], [1, 2, 3, 4])
    }
    assert orders == {(0, 1, 2, 3)}

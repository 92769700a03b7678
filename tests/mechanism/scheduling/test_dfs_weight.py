from auction_kit import auction_of

from mechanism.scheduling.dfs_weight import DfsWeight


def test_larger_subtrees_come_first_and_ties_by_arrival() -> None:
    # Under the root: {1} alone, the family of 2 (three, of which two share 2 5), the family of 3 (two).
    rows = [[1], [3, 1], [2, 4], [2, 5, 1], [3, 2], [2, 5, 2]]
    assert DfsWeight().order(auction_of(rows, [0.0] * 6)).tolist() == [3, 5, 2, 1, 4, 0]


def test_a_prompt_that_ends_at_a_node_follows_the_larger_subtrees() -> None:
    assert DfsWeight().order(auction_of([[1], [1, 2, 3], [1, 2, 4]], [0.0] * 3)).tolist() == [1, 2, 0]

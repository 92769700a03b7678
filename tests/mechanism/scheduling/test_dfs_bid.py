from fractions import Fraction

import numpy as np
import pytest
from auction_kit import TREE_OF_FOUR, auction_of, needs_extended_precision, token_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.dfs_uniform import DfsUniform


@pytest.mark.parametrize(
    ("bids", "order"),
    [
        ([1.0, 2.0, 6.0, 3.5], [3, 2, 1, 0]),  # 3.5 beats the average 3
        ([1.0, 2.0, 6.0, 2.5], [2, 1, 0, 3]),
        ([1.0, 2.0, 6.0, 3.0], [2, 1, 0, 3]),  # a tie: the subtree holds request 0
        ([0.0, 0.0, 0.0, 0.0], [0, 1, 2, 3]),
    ],
)
def test_by_hand(bids: list[float], order: list[int]) -> None:
    assert DfsBid().order(auction_of(TREE_OF_FOUR, bids)).tolist() == order
    assert DfsBid().order(auction_of(TREE_OF_FOUR, [Fraction(bid) for bid in bids])).tolist() == order


@needs_extended_precision
@given(token_rows, st.sampled_from([0.0, 0.1, 1 / 3, 2.0]))
@settings(max_examples=100, deadline=None)
def test_equal_bids_are_dfs_uniform(rows: list[list[int]], bid: float) -> None:
    auction = auction_of(rows, [bid] * len(rows))
    assert DfsBid().order(auction).tolist() == DfsUniform().order(auction).tolist()


def test_a_deep_chain_needs_no_recursion() -> None:
    depth = 1500
    bids = np.arange(depth, dtype=float)  # the longer the prompt the higher the bid, so depth first is bid first
    auction = auction_of([[0] * length for length in range(depth)], bids.tolist())
    assert DfsBid().order(auction).tolist() == list(range(depth))[::-1]

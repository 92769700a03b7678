"""Theorem 4.4 by hand: a tree of four, the two holes, the edges of floats, and what is refused."""

import math

import numpy as np
import pytest
from auction_kit import TREE_OF_FOUR

from mechanism.bounds import welfare_bound
from mechanism.errors import MechanismError
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree, star_tree

FOUR = build_tree(Prompts.from_lists(TREE_OF_FOUR))  # root → {7 → {78, 79, 7 ends}, 1}; requests 0, 1, 2 and 3


def test_a_tree_of_four_by_hand() -> None:
    """Below 7: values 3, 2, 1 at multipliers 1, ½, 1. At the root: 6 for three requests at 5/6, 1 for one at 2.

    Below 7, Ω = 3·2 + 2·1 = 8 and κ = 2; bids 3, 1, 1 keep the order, the tie by arrival: nothing is lost. At the root
    averages of value are 2 and 1, so Ω = 6·1, and κ = 2/(5/6) = 2.4; bids average 5/3 against 2, so request 3 is served
    first, worth 1·3: 3 is lost.
    """
    found = welfare_bound(FOUR, np.array([3.0, 1.0, 1.0, 2.0]), np.array([3.0, 2.0, 1.0, 1.0]))
    assert FOUR.depth_tokens[found.node].tolist() == [0, 1]
    assert found.omega.tolist() == [6, 8]
    assert found.kappa == pytest.approx([2.4, 2], rel=1e-15)
    assert found.lost.tolist() == [3, 0]
    assert found.ratio == 11 / 14
    assert found.bound == pytest.approx((6 / 2.4 + 8 / 2) / 14, rel=1e-15)
    assert found.simple_bound == pytest.approx(1 / 2.4, rel=1e-15)
    assert found.allowed == pytest.approx([3.5, 4], rel=1e-15)
    assert found.total == 14


def test_truthful_and_evenly_paced_bids_lose_nothing() -> None:
    values = np.array([3.0, 0.0, 1.0, 2.5])
    found = welfare_bound(FOUR, values, values)
    assert (found.ratio, found.bound, found.simple_bound) == (1, 1, 1)
    for share in (0.5, 0.7, 1e-9):
        found = welfare_bound(FOUR, share * values, values)
        assert found.ratio == 1
        assert found.bound == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize(
    ("values", "bids", "holes"),
    [
        ([1.0, 0.0], [0.0, 0.0], (1, 0)),  # CASES.md H: the tie may put the worthless one first
        ([0.0, 1.0], [0.0, 0.0], (1, 0)),
        ([0.0, 1.0], [1.0, 1.0], (0, 1)),
        ([1.0, 0.0], [0.0, 1.0], (1, 1)),
        ([1.0, 1.0], [1.0, 0.0], (1, 0)),
    ],
)
def test_zero_bids_and_bids_without_value_are_excluded(values: list, bids: list, holes: tuple) -> None:
    found = welfare_bound(star_tree(2), np.array(bids), np.array(values))
    assert found.kappa.tolist() == [math.inf]
    assert found.bound == found.simple_bound == 0
    assert (found.value_without_bid.tolist(), found.bid_without_value.tolist()) == ([holes[0]], [holes[1]])
    assert found.allowed.tolist() == found.omega.tolist()


def test_the_tie_of_two_zero_bids_goes_by_arrival() -> None:
    first, last = (welfare_bound(star_tree(2), np.zeros(2), np.array(v)) for v in ([1.0, 0.0], [0.0, 1.0]))
    assert (first.ratio, last.ratio) == (1, 0)


def test_an_excluded_node_leaves_the_others_their_part() -> None:
    """Below 7 a zero bid on a value (Ω = 8 counts for nothing); the root's Ω = 6 at κ = 1."""
    found = welfare_bound(FOUR, np.array([4.0, 0.0, 2.0, 1.0]), np.array([3.0, 2.0, 1.0, 1.0]))
    assert found.kappa.tolist() == [1, math.inf]
    assert found.bound == 6 / 14


@pytest.mark.parametrize("n", [0, 1, 3])
def test_without_value_or_without_siblings_everything_is_kept(n: int) -> None:
    found = welfare_bound(star_tree(n), np.ones(n), np.zeros(n))
    assert (found.ratio, found.bound, found.total) == (1, 1, 0)
    assert len(found.node) == (n > 1)


def test_a_root_with_one_child_is_no_node() -> None:
    tree = build_tree(Prompts.from_lists([[7, 1], [7, 2]]))
    assert tree.depth_tokens[welfare_bound(tree, np.ones(2), np.ones(2)).node].tolist() == [1]


def test_multipliers_further_apart_than_doubles_reach_count_as_infinite() -> None:
    found = welfare_bound(star_tree(2), np.array([1e-300, 1e300]), np.array([1e20, 1e-20]))
    assert found.kappa.tolist() == [math.inf]
    assert found.bound == 0
    assert found.value_without_bid.tolist() == found.bid_without_value.tolist() == [0]


@pytest.mark.parametrize("wrong", [[-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [1e308, 1e308], [1.0]])
def test_what_no_welfare_can_be_computed_from_is_refused(wrong: list[float]) -> None:
    good = np.ones(2)
    with pytest.raises(MechanismError, match="welfare bound"):
        welfare_bound(star_tree(2), np.array(wrong), good)
    with pytest.raises(MechanismError, match="welfare bound"):
        welfare_bound(star_tree(2), good, np.array(wrong))

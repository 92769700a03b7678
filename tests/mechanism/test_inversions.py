"""Inverted siblings by hand."""

import numpy as np

from mechanism.inversions import Siblings, largest_inversions, losses_by_overtaken
from mechanism.pair_bound import allowed_by_pairs
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree, star_tree


def test_the_costliest_pairs_come_first() -> None:
    """Values 5, 3, 1, bids in the opposite order: losses 2, 4 and 2, each by the request worth more."""
    siblings = Siblings.of(star_tree(3), np.array([1.0, 2.0, 3.0]), np.array([5.0, 3.0, 1.0]))
    lost, number = losses_by_overtaken(siblings)
    assert siblings.vertex.tolist() == [1, 2, 3]  # by value; vertex 0 is the root
    assert lost.tolist() == [6, 2, 0]
    assert number.tolist() == [2, 1, 0]
    pairs = largest_inversions(siblings, lost, limit=2)
    assert [(pair.ahead, pair.behind, pair.lost) for pair in pairs] == [(3, 1, 4.0), (2, 1, 2.0)]
    assert siblings.per_node(lost).tolist() == [8]


def test_siblings_of_equal_average_value_are_no_inversion() -> None:
    tree = build_tree(Prompts.from_lists([[7, 1], [7, 2], [3]]))
    siblings = Siblings.of(tree, np.array([1.0, 2.0, 9.0]), np.full(3, 2.0))
    lost, number = losses_by_overtaken(siblings)
    assert not lost.any()
    assert not number.any()
    assert not allowed_by_pairs(siblings).any()


def test_only_the_losers_with_most_to_lose_are_looked_at() -> None:
    siblings = Siblings.of(star_tree(4), np.arange(4.0), np.array([9.0, 5.0, 4.0, 0.0]))
    lost, _ = losses_by_overtaken(siblings)
    assert lost.tolist() == [4 + 5 + 9, 1 + 5, 4, 0]
    behind = {pair.behind for pair in largest_inversions(siblings, lost, limit=10, children=1)}
    assert behind == {1}


def test_an_empty_batch_has_none() -> None:
    siblings = Siblings.of(star_tree(0), np.zeros(0), np.zeros(0))
    lost, _ = losses_by_overtaken(siblings)
    assert largest_inversions(siblings, lost) == []
    assert allowed_by_pairs(siblings).tolist() == [0]

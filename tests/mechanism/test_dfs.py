from fractions import Fraction

import numpy as np
import oracles
import pytest
from auction_kit import TREE_OF_FOUR, auction_of, needs_extended_precision, token_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.dfs import averages, by_average, dfs_order, families_in, weight_totals
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree


@given(token_rows, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_any_arrangement_of_the_children_is_walked_depth_first(rows: list[list[int]], random: st.DataObject) -> None:
    tree = build_tree(Prompts.from_lists(rows))
    families = [tree.children[a:b].tolist() for a, b in zip(tree.indptr[:-1], tree.indptr[1:], strict=True)]
    for family in families:
        random.shuffle(family)

    def walk(vertex: int) -> list[int]:
        if vertex >= tree.num_nodes:
            return [int(tree.leaves[vertex - tree.num_nodes])]
        return [leaf for child in families[vertex] for leaf in walk(child)]

    children = np.array([child for family in families for child in family], dtype=np.int64)
    order = dfs_order(tree, children)
    assert order.tolist() == walk(0)
    found = families_in(tree, order)
    assert found is not None
    assert found[0].tolist() == children.tolist()


@given(token_rows.filter(lambda rows: 1 < len(rows) < 6), st.permutations(range(5)))
@settings(max_examples=100, deadline=None)
def test_only_depth_first_orders_are_recognised(rows: list[list[int]], order: list[int]) -> None:
    order = [request for request in order if request < len(rows)]
    is_dfs = order in list(oracles.all_dfs(oracles.trie(rows, range(len(rows)))))
    assert (families_in(build_tree(Prompts.from_lists(rows)), np.array(order)) is not None) == is_dfs


def test_totals_and_averages_below_every_vertex() -> None:
    auction = auction_of(TREE_OF_FOUR, [1.0, 2.0, 6.0, 3.0])
    totals = weight_totals(auction.tree, auction.bids)
    leaves = auction.bids[auction.tree.leaves].tolist()
    assert totals.tolist() == [12, 9, *leaves]
    assert averages(auction.tree, totals).tolist() == [3, 3, *leaves]


def test_averages_of_fractions_are_fractions() -> None:
    auction = auction_of(TREE_OF_FOUR, [Fraction(1, 3)] * 4)
    average = averages(auction.tree, weight_totals(auction.tree, auction.bids))
    assert average.tolist() == [Fraction(1, 3)] * 6


@needs_extended_precision
@pytest.mark.parametrize("bid", [0.1, 1 / 3, 1e-300, 1e12 + 0.1])
def test_equal_bids_have_equal_averages(bid: float) -> None:
    tree = build_tree(Prompts.from_lists([[1]] * 3 + [[2]] * 10 + [[3]] * 999))
    average = averages(tree, weight_totals(tree, np.full(tree.num_leaves, bid)))
    assert set(average.tolist()) == {bid}


def test_a_small_subtree_keeps_its_digits_beside_a_large_one() -> None:
    tree = build_tree(Prompts.from_lists([[1, 1], [1, 2], [2, 1], [2, 2]]))
    totals = weight_totals(tree, np.array([1e20, 1e20, 1e-9, 2e-9]))
    assert sorted(totals[1:3].astype(float).tolist()) == [1e-9 + 2e-9, 2e20]


def test_ties_go_to_the_smallest_arrival_in_the_subtree() -> None:
    auction = auction_of([[5], [6, 1], [7], [6, 2], [5]], [2.0, 1.0, 2.0, 3.0, 2.0])  # three families of average 2
    average = averages(auction.tree, weight_totals(auction.tree, auction.bids))
    assert dfs_order(auction.tree, by_average(auction.tree, average)).tolist() == [0, 4, 3, 1, 2]

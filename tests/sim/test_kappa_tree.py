"""Which nodes are shown, in which order, below which."""

import math

import numpy as np
from kappa_kit import FOUR, priced

from sim.kappa_tree import kappa_tree


def test_both_nodes_of_the_tree_of_four() -> None:
    root, seven = kappa_tree(priced(FOUR))
    assert (root.place, root.parent, root.level, root.depth_tokens, root.num_requests) == (0, None, 0, 0, 4)
    assert (seven.place, seven.parent, seven.level, seven.depth_tokens, seven.num_children) == (1, 0, 1, 1, 3)
    assert (root.kappa, seven.kappa, root.weight, seven.lost) == (2.4, 2, 6 / 14, 0)
    assert (root.hidden, seven.hidden) == (0, 0)


def two_families() -> list:
    """Below 1 a pair at 1 and ½, below 2 a pair at 1 and 1/10; below 2 3 a pair at 1 and 1 (nothing can be lost)."""
    prompts = [[1, 1], [1, 2], [2, 1], [2, 2], [2, 3, 1], [2, 3, 2]]
    bids = [4.0, 2.0, 4.0, 0.4, 4.0, 4.0]
    return [{"user": "u", "bid": bid, "value": 4.0, "tokens": p} for bid, p in zip(bids, prompts, strict=True)]


def test_what_matters_most_comes_first_among_siblings() -> None:
    nodes = kappa_tree(priced(two_families()))
    assert [(node.depth_tokens, node.parent, node.level) for node in nodes] == [
        (0, None, 0),
        (1, 0, 1),
        (2, 1, 2),
        (1, 0, 1),
    ]
    assert nodes[1].num_requests == 4
    assert nodes[1].allowed > nodes[3].allowed > nodes[2].allowed == 0


def test_what_is_not_shown_is_counted_where_it_belongs() -> None:
    nodes = kappa_tree(priced(two_families()), max_nodes=1)
    assert [node.depth_tokens for node in nodes] == [0, 1]
    assert [node.hidden for node in nodes] == [1, 1]  # the pair below 1; the pair below 2 3


def test_nodes_between_two_that_are_shown_are_passed_over() -> None:
    """A chain of families of equals, and one at the bottom where much can be lost."""
    rows = [{"user": "u", "bid": 1.0, "value": 1.0, "tokens": [0] * length} for length in range(20)]
    rows += [{"user": "u", "bid": bid, "value": 9.0, "tokens": [0] * 19 + [t]} for bid, t in ((9.0, 1), (0.1, 2))]
    nodes = kappa_tree(priced(rows), max_nodes=1)
    assert [node.level for node in nodes] == [0, 1]
    assert sum(node.hidden for node in nodes) == len(priced(rows).bound.node) - 2


def test_an_infinite_kappa_stays_infinite() -> None:
    rows = [{**row, "bid": 0.0} if row["user"] == "u2" else row for row in FOUR]
    assert [node.kappa for node in kappa_tree(priced(rows))] == [3, math.inf]


def test_without_siblings_there_is_nothing_to_show() -> None:
    assert kappa_tree(priced(FOUR[:1])) == ()


def test_a_large_tree_is_cut_to_the_nodes_that_matter() -> None:
    draw = np.random.default_rng(0)
    prompts = draw.integers(0, 3, (3000, 8)).tolist()
    rows = [
        {"user": "u", "bid": float(b), "value": 1.0, "tokens": p}
        for b, p in zip(draw.random(3000), prompts, strict=True)
    ]
    found = priced(rows)
    nodes = kappa_tree(found)
    assert len(nodes) in (80, 81)
    assert sum(node.hidden for node in nodes) == len(found.bound.node) - len(nodes)
    assert all(nodes[node.parent].depth_tokens < node.depth_tokens for node in nodes if node.parent is not None)
    left_out = np.delete(found.allowed, [node.place for node in nodes])
    assert left_out.max() <= min(node.allowed for node in nodes[1:])

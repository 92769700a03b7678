from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree
from sim.tree_summary import tree_summary

# root ── [1 2] ── {0: [1 2 5], 1: [1 2 6], 4: [1 2]}     bids 1, 2, 6: average 3
#      ├─ 2: [7]                                           bid 10
#      └─ 3: [8]                                           bid 0
ROWS = [[1, 2, 5], [1, 2, 6], [7], [8], [1, 2]]
BIDS = np.array([1.0, 2.0, 10.0, 0.0, 6.0])


def summary(**limits: float) -> dict:
    return tree_summary(build_tree(Prompts.from_lists(ROWS)), BIDS, 2 * BIDS, **limits)


def shown(nodes: list[dict]) -> list[tuple]:
    return [(node["parent"], node["depth_tokens"], node["requests"], node["average_bid"]) for node in nodes]


def test_siblings_come_in_the_order_average_bid_dfs_serves_them() -> None:
    assert shown(summary()["nodes"]) == [
        (None, 0, 5, 3.8),
        (0, None, 1, 10.0),
        (0, 2, 3, 3.0),
        (2, None, 1, 6.0),
        (2, None, 1, 2.0),
        (2, None, 1, 1.0),
        (0, None, 1, 0.0),
    ]


def test_values_are_averaged_beside_bids_and_ids_are_positions() -> None:
    nodes = summary()["nodes"]
    assert [node["average_value"] for node in nodes] == [2 * node["average_bid"] for node in nodes]
    assert [node["id"] for node in nodes] == list(range(len(nodes)))
    assert [node["children"] for node in nodes] == [3, 0, 3, 0, 0, 0, 0]


def test_what_is_not_listed_is_summed_in_a_last_sibling() -> None:
    # root, the subtree of 3, and the better of the two singletons fit; the other singleton is summed
    found = summary(max_nodes=3)
    assert shown(found["nodes"]) == [(None, 0, 5, 3.8), (0, None, 1, 10.0), (0, 2, 3, 3.0), (0, 0, 1, 0.0)]
    assert [node["merged"] for node in found["nodes"]] == [0, 0, 0, 1]
    assert found["note"] == "Listed: 3 of 7 subtrees, the biggest first, down to level 1."


def test_subtrees_too_small_to_be_seen_are_summed() -> None:
    # of five requests, three in a hundred is less than one, and one half is more than two
    assert summary(min_share=0.03) == summary()
    found = summary(min_share=0.5)
    assert shown(found["nodes"]) == [(None, 0, 5, 3.8), (0, 2, 3, 3.0), (0, 0, 2, 5.0)]
    assert [node["merged"] for node in found["nodes"]] == [0, 0, 2]


def test_levels_are_counted_below_the_root() -> None:
    assert [summary(max_levels=levels)["levels"] for levels in (0, 1, 2, 9)] == [0, 1, 2, 2]
    assert len(summary(max_levels=1)["nodes"]) == 4
    assert summary()["note"] == ""


def test_an_empty_batch_and_a_single_request() -> None:
    assert tree_summary(build_tree(Prompts.from_lists([])), np.empty(0), np.empty(0))["nodes"] == []
    one = tree_summary(build_tree(Prompts.from_lists([[3, 4]])), np.array([2.0]), np.array([5.0]))
    assert [node["requests"] for node in one["nodes"]] == [1, 1]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=24),
    st.integers(0, 5),
    st.integers(1, 30),
)
def test_siblings_add_up_to_their_parent(rows: list[list[int]], max_levels: int, max_nodes: int) -> None:
    bids = np.arange(len(rows), dtype=np.float64)
    found = tree_summary(build_tree(Prompts.from_lists(rows)), bids, bids, max_levels, max_nodes)
    nodes = found["nodes"]
    assert sum(node["merged"] == 0 for node in nodes) <= max_nodes
    assert nodes[0]["requests"] == len(rows)
    assert np.isclose(nodes[0]["average_bid"], bids.mean())
    for node in nodes:
        below = [child for child in nodes if child["parent"] == node["id"]]
        if below:
            assert sum(child["requests"] for child in below) == node["requests"]
            money = sum(child["requests"] * child["average_bid"] for child in below)
            assert np.isclose(money, node["requests"] * node["average_bid"])
    json.dumps(found, allow_nan=False)

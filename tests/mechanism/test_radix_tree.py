from dataclasses import replace

import numpy as np
import oracles
import pytest
from auction_kit import TREE_OF_FOUR, block_prompts, node_set, symbol_rows, token_rows
from hypothesis import given, settings

from mechanism.errors import MechanismError
from mechanism.prompts import IntArray, Prompts
from mechanism.radix_tree import RadixTree, build_tree, star_tree


def by_request(tree: RadixTree, per_vertex: IntArray) -> list[int]:
    """What a per-vertex array says of the leaves, in the order of the requests."""
    return [int(per_vertex[tree.num_nodes + place]) for place in np.argsort(tree.leaves)]


def check_structure(tree: RadixTree) -> None:
    """What the docstring of `RadixTree` promises."""
    n, num_nodes = tree.num_leaves, tree.num_nodes
    assert sorted(tree.leaves.tolist()) == list(range(n))
    assert (tree.start[0], tree.stop[0], tree.depth_tokens[0], tree.parent[0]) == (0, n, 0, 0)
    below = [set(tree.leaves[a:b].tolist()) for a, b in zip(tree.start, tree.stop, strict=True)]
    below += [{request} for request in tree.leaves.tolist()]
    assert tree.num_requests.tolist() == [len(requests) for requests in below]
    assert tree.first_arrival.tolist() == [min(requests, default=0) for requests in below]
    families: list[list[int]] = [[] for _ in range(num_nodes)]
    for vertex in range(1, num_nodes + n):
        families[tree.parent[vertex]].append(vertex)
        assert vertex >= num_nodes or tree.parent[vertex] < vertex
        assert vertex >= num_nodes or tree.depth_tokens[vertex] > tree.depth_tokens[tree.parent[vertex]]
    for node, family in enumerate(families):
        assert node == 0 or len(family) >= 2
        assert sorted(leaf for child in family for leaf in below[child]) == sorted(below[node])
        found = tree.children[tree.indptr[node] : tree.indptr[node + 1]].tolist()
        assert found == sorted(family, key=lambda child: tree.first_arrival[child])


@given(token_rows)
@settings(max_examples=200, deadline=None)
def test_equals_the_trie_of_tokens(rows: list[list[int]]) -> None:
    tree = build_tree(Prompts.from_lists(rows))
    check_structure(tree)
    assert node_set(tree) == oracles.nodes_of(rows)


@given(symbol_rows)
@settings(max_examples=200, deadline=None)
def test_equals_the_trie_of_expanded_blocks(rows: list[list[tuple[int, int]]]) -> None:
    tree = build_tree(block_prompts(rows))
    check_structure(tree)
    assert node_set(tree) == oracles.nodes_of([oracles.tokens_of(row) for row in rows])


def test_a_prompt_that_ends_inside_is_a_leaf_of_the_node_where_it_ends() -> None:
    tree = build_tree(Prompts.from_lists(TREE_OF_FOUR))
    assert node_set(tree) == {(0, frozenset({0, 1, 2, 3})), (1, frozenset({0, 1, 2}))}
    assert by_request(tree, tree.parent) == [1, 1, 1, 0]


def test_identical_prompts_are_sibling_leaves() -> None:
    tree = build_tree(Prompts.from_lists([[4, 5, 6]] * 3))
    assert tree.depth_tokens.tolist() == [0, 3]
    assert by_request(tree, tree.parent) == [1, 1, 1]


def test_an_empty_prompt_is_a_leaf_of_the_root() -> None:
    tree = build_tree(Prompts.from_lists([[], [4, 4], [4, 4], []]))
    assert by_request(tree, tree.parent) == [0, 1, 1, 0]
    assert build_tree(Prompts.from_lists([[], []])).parent.tolist() == [0, 0, 0]


@pytest.mark.parametrize("count", [0, 1])
def test_none_or_one_request_hangs_from_the_root(count: int) -> None:
    tree = build_tree(Prompts.from_lists([[1, 2]] * count))
    assert (tree.num_nodes, tree.num_leaves, tree.parent.tolist()) == (1, count, [0] * (1 + count))


def test_equal_ids_of_different_length_share_the_shorter() -> None:
    tree = build_tree(block_prompts([[(9, 512), (7, 100)], [(9, 512), (7, 30)], [(9, 200)]]))
    assert tree.depth_tokens.tolist() == [0, 200, 542]


def test_a_block_is_no_other_block_at_the_same_depth() -> None:
    tree = build_tree(block_prompts([[(9, 4), (9, 4)], [(9, 4), (8, 4)], [(9, 8)]]))
    assert tree.depth_tokens.tolist() == [0, 4]  # the third prompt goes on inside its block, the first starts anew


def test_ids_use_all_64_bits() -> None:
    ends = [np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0]
    rows = [[5, end] for end in ends] + [[5, ends[0], 1]]
    assert node_set(build_tree(Prompts.from_lists(rows))) == oracles.nodes_of(rows)


def test_lengths_of_a_billion_tokens() -> None:
    """Depths and ids that do not fit into one 63-bit sorting key together."""
    rows = [[(i, 2**30), (2, 2**30), (k, 2**30)] for i in (-1, -2) for k in (-3, -4, -5)] + [[(-1, 2**30), (2, 5)]]
    prompts = block_prompts(rows)
    tree = build_tree(replace(prompts, symbols=prompts.symbols.astype(np.int32)))
    assert sorted(tree.depth_tokens.tolist()) == [0, 2**30 + 5, 2**31, 2**31]


def test_a_chain_as_deep_as_it_is_long() -> None:
    tree = build_tree(Prompts.from_lists([[0] * depth for depth in range(300, 0, -1)]))
    assert tree.num_nodes == 300  # the deepest two prompts split at the shorter one's end
    assert tree.depth_tokens.tolist() == list(range(300))


def test_prompts_need_not_fill_their_symbols() -> None:
    prompts = Prompts(np.array([9, 1, 2, 1, 3, 9], dtype=np.int32), np.array([1, 3, 5]))
    assert build_tree(prompts).depth_tokens.tolist() == [0, 1]


def test_the_star_has_one_family() -> None:
    star = star_tree(3)
    check_structure(star)
    assert node_set(star) == {(0, frozenset({0, 1, 2}))}
    check_structure(star_tree(0))


def test_sums_and_extremes_below_every_vertex() -> None:
    tree = build_tree(Prompts.from_lists(TREE_OF_FOUR))
    numbers = np.array([3, 10, 5, 100])
    for found, of_nodes in (
        (tree.totals(numbers), [118, 18]),
        (tree.least(numbers), [3, 3]),
        (tree.greatest(numbers), [100, 10]),
    ):
        assert found[: tree.num_nodes].tolist() == of_nodes
        assert by_request(tree, found) == numbers.tolist()


@pytest.mark.parametrize(
    "prompts",
    [
        Prompts(np.array([1, 2]), np.array([0, 3])),
        Prompts(np.array([1, 2]), np.array([0, 2, 1])),
        Prompts(np.array([1, 2]), np.array([-1, 2])),
        Prompts(np.array([1, 2]), np.array([], dtype=np.int64)),
        Prompts(np.array([1, 2]), np.array([0, 2]), np.array([1, 0])),
        Prompts(np.array([1, 2]), np.array([0, 2]), np.array([1])),
    ],
)
def test_malformed_prompts_are_refused(prompts: Prompts) -> None:
    with pytest.raises(MechanismError, match="prompts: "):
        build_tree(prompts)

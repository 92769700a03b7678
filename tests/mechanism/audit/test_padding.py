"""Padded trees against trees of really padded prompts."""

import numpy as np
import pytest
from auction_kit import auction_of
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.audit.game import Game, Padding
from mechanism.audit.padding import PaddedPrompts, padded_tree
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import Prompts
from mechanism.radix_tree import RadixTree, build_tree
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid


def families(tree: RadixTree) -> set[frozenset[int]]:
    return {frozenset(tree.leaves[start:stop].tolist()) for start, stop in zip(tree.start, tree.stop, strict=True)}


# A token says at which depth it stands, so a prompt that goes on after padding meets no text of others by accident.
rows_of_tokens = st.lists(st.lists(st.integers(0, 1), max_size=4), min_size=2, max_size=8).map(
    lambda rows: [[10 * depth + letter for depth, letter in enumerate(row)] for row in rows]
)


@given(rows_of_tokens, st.data())
@settings(max_examples=150, deadline=None)
def test_a_padded_tree_is_the_tree_of_padded_prompts(rows: list[list[int]], data: st.DataObject) -> None:
    tree = build_tree(Prompts.from_lists(rows))
    movers = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    inner = range(1, tree.num_nodes)
    node = data.draw(st.sampled_from([None, *inner]))
    if node is None:
        copied, tokens, front = None, 1, [999]
    else:
        copied, tokens = int(tree.leaves[tree.start[node]]), int(tree.depth_tokens[node])
        front = rows[copied][:tokens]
    padding = [Padding(request, copied, tokens) for request in movers]
    padded = [front + row if request in movers else row for request, row in enumerate(rows)]
    assert families(padded_tree(tree, padding)) == families(build_tree(Prompts.from_lists(padded)))


def test_the_poor_join_the_rich() -> None:
    # User 2 is stuck beside a 0: subtree 1 (12, 8) goes first, so he gets a third of 9 and pays nothing: 3. With the
    # prefix of subtree 1 he stands between 12 and 8, gets two thirds of 9 and pays a third of 8: 10/3.
    rows, values, users = [[1, 1], [1, 2], [2, 1], [2, 2]], [12.0, 8.0, 0.0, 9.0], [0, 0, 1, 2]
    auction = auction_of(rows, values, users)
    game = Game(
        tree=auction.tree, values=auction.bids, users=auction.users, num_users=3, schedule=DfsBid(), pricing=Vcg()
    )
    assert game.truth.utility[2] == pytest.approx(3.0)
    (found,) = PaddedPrompts().search(game, (2,), np.random.default_rng(0))
    assert found.lie.padding == (Padding(3, 0, 1),)
    assert found.gain == pytest.approx(1 / 3)
    assert "with a token of a popular one" in found.how


def test_padding_is_pointless_where_prompts_do_not_count() -> None:
    auction = auction_of([[1, 1], [1, 2], [2, 1], [2, 2]], [12.0, 8.0, 1.0, 3.0])
    game = Game(
        tree=auction.tree, values=auction.bids, users=auction.users, num_users=4, schedule=BidSort(), pricing=Vcg()
    )
    assert all(PaddedPrompts().search(game, (user,), np.random.default_rng(0)) == [] for user in range(4))

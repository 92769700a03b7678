"""Padded prompts are prompts: what the mechanism is shown is what a user would submit."""

import numpy as np
import pytest
from auction_kit import block_prompts, node_set
from audit_kit import game_of
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.audit.padding import PaddedPrompts
from mechanism.audit.pen import SymbolPen, with_prompts
from mechanism.pricing.free import Free
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.k_lpm import KLpm

rows_of_tokens = st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=2, max_size=8)


@given(rows_of_tokens, st.data())
@settings(max_examples=150, deadline=None)
def test_padded_prompts_are_submitted_token_by_token(rows: list[list[int]], data: st.DataObject) -> None:
    game = game_of(rows, [1.0] * len(rows), list(range(len(rows))), DfsBid(), Vcg())
    movers = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    copied = data.draw(st.integers(0, len(rows) - 1))
    tokens = data.draw(st.integers(0, len(rows[copied])))
    padding = [game.pen.copy(request, copied, tokens) for request in movers]
    assert all(each.tokens_added == each.amount == tokens for each in padding)
    lie = game.padded(padding, game.values)
    padded = [rows[copied][:tokens] + row if request in movers else row for request, row in enumerate(rows)]
    wanted = build_tree(Prompts.from_lists(padded))
    assert node_set(lie.tree) == node_set(wanted)  # with token depths
    assert lie.prompt_tokens.tolist() == [len(row) for row in padded]


def test_a_token_of_one_s_own_is_nobody_else_s() -> None:
    pen = SymbolPen(Prompts.from_lists([[0, 5], [], [1], [3]]))
    found = pen.fresh(0)
    assert (found.fresh, found.prompt.symbols.tolist(), found.copied) == (2, [2, 0, 5], None)


def test_blocks_are_cut_where_they_may_be() -> None:
    prompts = block_prompts([[(1, 4), (2, 4), (3, 2)], [(7, 4), (8, 1)], [(9, 3)]])
    free = SymbolPen(prompts).copy(1, 0, 6)
    assert (free.prompt.symbols.tolist(), free.prompt.lengths.tolist()) == ([1, 2, 7, 8], [4, 2, 4, 1])
    whole = SymbolPen(prompts, whole_blocks=True)
    assert whole.copy(1, 0, 6).prompt.lengths.tolist() == [4, 4, 4, 1]
    assert (whole.copy(1, 0, 6).tokens_added, whole.copy(1, 0, 6).block_tokens) == (8, 4)
    assert whole.copy(1, 0, 10) is None  # the copy would end in half a block
    assert whole.fresh(2).prompt.lengths.tolist() == [4, 3]


def test_prompts_are_exchanged_in_place() -> None:
    prompts = block_prompts([[(1, 4)], [(2, 3), (3, 1)], []])
    changed = with_prompts(prompts, {2: block_prompts([[(5, 2)]]), 0: block_prompts([[]])})
    assert changed.indptr.tolist() == [0, 0, 2, 3]
    assert (changed.symbols.tolist(), changed.lengths.tolist()) == ([2, 3, 5], [3, 1, 2])


def test_the_poor_join_the_rich() -> None:
    # User 2 is stuck beside a 0: subtree 1 (12, 8) goes first, so he gets a third of 9 and pays nothing: 3. With the
    # prefix of subtree 1 he stands between 12 and 8, gets two thirds of 9 and pays a third of 8: 10/3.
    rows, values, users = [[1, 1], [1, 2], [2, 1], [2, 2]], [12.0, 8.0, 0.0, 9.0], [0, 0, 1, 2]
    game = game_of(rows, values, users, DfsBid(), Vcg())
    assert game.truth.utility[2] == pytest.approx(3.0)
    (found,) = PaddedPrompts().search(game, (2,), np.random.default_rng(0))
    assert [(each.request, each.copied, each.amount) for each in found.lie.padding] == [(3, 0, 1)]
    assert found.gain == found.adds == pytest.approx(1 / 3)
    assert "with a token of a popular one" in found.how


def test_depth_decides_where_the_rule_looks_at_it() -> None:
    # k-LPM: the oldest (0), then the longest match. Request 1 shares 3 tokens with it, request 2 none. With the first
    # 3 tokens in front, request 2's match is as long as 1's; ties are by arrival, so nothing is won.
    game = game_of([[1, 1, 1, 5], [1, 1, 1, 6], [2], [3]], [1.0, 1.0, 8.0, 1.0], [0, 1, 2, 3], KLpm(k=9), Free())
    tie = game.padded([game.pen.copy(2, 0, 3)], game.values)
    assert game.play(tie).utility[2] == game.truth.utility[2] == pytest.approx(8 / 3)
    longer = game.padded([game.pen.copy(2, 0, 4)], game.values)  # a match of 4 goes before 1's of 3
    assert game.play(longer).utility[2] == pytest.approx(16 / 3)


def test_padding_is_pointless_where_prompts_do_not_count() -> None:
    game = game_of([[1, 1], [1, 2], [2, 1], [2, 2]], [12.0, 8.0, 1.0, 3.0], [0, 1, 2, 3], BidSort(), Vcg())
    assert all(PaddedPrompts().search(game, (user,), np.random.default_rng(0)) == [] for user in range(4))

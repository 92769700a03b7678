"""Prompts for a real model: ids it knows stay, others are replaced so that exactly the same prefixes are shared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from auction_kit import block_prompts, symbol_rows
from hypothesis import given, settings
from oracles import tokens_of

from backends._prompt_tokens import RESERVED, PromptTokens
from mechanism.prompts import Prompts


def shared(first: Sequence[Any], second: Sequence[Any]) -> int:
    pairs = zip(first, second, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


@given(symbol_rows)
@settings(max_examples=200, deadline=None)
def test_blocks_share_the_same_prefixes_as_tokens(rows: list[list[tuple[int, int]]]) -> None:
    tokens = PromptTokens(block_prompts(rows), vocab_tokens=300)
    expanded = [tokens_of(row) for row in rows]
    found = [tokens.of(index) for index in range(len(rows))]
    assert [len(each) for each in found] == [len(each) for each in expanded]
    for a, b in itertools.combinations(range(len(rows)), 2):
        assert shared(found[a], found[b]) == shared(expanded[a], expanded[b])
    assert all(RESERVED <= token < 300 for each in found for token in each)


def test_ids_the_model_knows_are_sent_as_they_are() -> None:
    tokens = PromptTokens(Prompts.from_lists([[5, 999], [5, 6, 7]]), vocab_tokens=1000)
    assert tokens.recorded
    assert [tokens.of(0), tokens.of(1)] == [[5, 999], [5, 6, 7]]


def test_one_id_the_model_does_not_know_replaces_all() -> None:
    tokens = PromptTokens(Prompts.from_lists([[5, 1000], [5, 6, 7]]), vocab_tokens=1000)
    assert not tokens.recorded
    assert shared(tokens.of(0), tokens.of(1)) == 1


def test_the_same_prompts_get_the_same_tokens() -> None:
    prompts = Prompts.from_lists([[10**6, 1], [10**6, 2]])
    first, second = PromptTokens(prompts, 32000), PromptTokens(prompts, 32000)
    assert [first.of(0), first.of(1)] == [second.of(0), second.of(1)]


def test_probes_start_like_no_prompt() -> None:
    own = PromptTokens(Prompts.from_lists([[1, 2], [3]]), vocab_tokens=1000)
    made_up = PromptTokens(Prompts.from_lists([[10**6], [10**7]]), vocab_tokens=1000)
    assert own.unused(3) == [2, 4, 5]
    assert not set(made_up.unused(9)) & {made_up.of(0)[0], made_up.of(1)[0]}


def test_more_siblings_than_tokens_are_counted() -> None:
    tokens = PromptTokens(Prompts.from_lists([[10**6 + k] for k in range(50)]), vocab_tokens=RESERVED + 40)
    assert tokens.accidents == 10


def test_a_salt_makes_every_prompt_another_one() -> None:
    prompts = Prompts.from_lists([[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 9]])
    runs = [PromptTokens(prompts, 32000, salt) for salt in (0, 1, 2)]
    assert not any(tokens.recorded for tokens in runs)
    assert all(shared(tokens.of(0), tokens.of(1)) == 3 for tokens in runs)
    for first, second in itertools.combinations(runs, 2):
        assert all(shared(first.of(a), second.of(b)) == 0 for a in (0, 1) for b in (0, 1))

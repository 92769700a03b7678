"""The radix cache by hand: splits, locks, eviction order, and what looking does not change."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import request_table
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine_rules import RULES
from sim.errors import ScenarioError
from sim.kv_cache import RadixCache
from sim.token_text import text_of


def cache_of(prompts: list[list[int]], engine: str = "0.5.23", **options: Any) -> RadixCache:
    table = request_table(prompts, [1] * len(prompts))
    return RadixCache(text_of(table, options.get("page_tokens", 1)), RULES[engine], **options)


def insert(cache: RadixCache, index: int, tokens: int, **options: int) -> int:
    return cache.insert(index, tokens, cache.root, **options)[0]


def shape(cache: RadixCache) -> list[tuple[int, int, int]]:
    return [(node.start, node.end, node.locks) for node in cache.nodes()]


def resident(cache: RadixCache, count: int, tokens: int) -> list[int]:
    return [cache.match_tokens(index, tokens) for index in range(count)]


def test_a_partial_match_splits_and_a_full_one_does_not() -> None:
    cache = cache_of([[1, 2, 3, 4], [1, 2, 9, 9], [1, 2, 3, 4]])
    assert insert(cache, 0, 4) == 0
    assert shape(cache) == [(0, 4, 0)]
    assert cache.touch(1, 4, cache.root).end == 2
    assert shape(cache) == [(0, 2, 0), (2, 4, 0)]
    assert cache.touch(2, 4, cache.root).end == 4
    assert shape(cache) == [(0, 2, 0), (2, 4, 0)]
    assert insert(cache, 1, 4) == 2
    assert cache.resident == cache.evictable == 6


def test_looking_changes_nothing() -> None:
    cache = cache_of([[1, 2, 3, 4], [1, 2, 9, 9]])
    insert(cache, 0, 4)
    before = [(node.start, node.end, node.touched, node.serial) for node in cache.nodes()]
    assert cache.match_tokens(1, 4) == 2
    assert cache.match_tokens(0, 3) == 3
    assert [(node.start, node.end, node.touched, node.serial) for node in cache.nodes()] == before


def test_locked_tokens_are_not_evicted() -> None:
    cache = cache_of([[1, 2, 3, 4], [1, 2, 5, 6]])
    insert(cache, 0, 4)
    insert(cache, 1, 4)
    node = cache.touch(0, 4, cache.root)
    cache.lock(node)
    assert cache.evictable == 2
    assert cache.evict(100) == 2
    assert resident(cache, 2, 4) == [4, 2]
    cache.unlock(node)
    assert cache.evictable == 4
    assert cache.evict(1) == 2  # whole leaves, the deepest first
    assert resident(cache, 2, 4) == [2, 2]
    cache.check_integrity()


def test_a_split_keeps_the_lock_of_the_lower_half() -> None:
    cache = cache_of([[1, 2, 3, 4], [1, 2, 9, 9]])
    insert(cache, 0, 4)
    node = cache.touch(0, 4, cache.root)
    cache.lock(node)
    cache.touch(1, 4, cache.root)
    assert shape(cache) == [(0, 2, 1), (2, 4, 1)]
    cache.unlock(node)
    assert shape(cache) == [(0, 2, 0), (2, 4, 0)]
    cache.check_integrity()


@pytest.mark.parametrize(
    ("eviction", "first", "second"),
    [("lru", 1, 2), ("mru", 0, 2), ("fifo", 0, 1), ("filo", 2, 1), ("lfu", 2, 1), ("slru", 2, 1), ("priority", 0, 2)],
)
def test_policies_evict_in_their_own_order(eviction: str, first: int, second: int) -> None:
    """Inserted 0, 1, 2 with priorities 0, 2, 1; used since: 1 once more than 2, then 0 three times."""
    cache = cache_of([[1], [2], [3]], eviction=eviction)
    for index, priority in enumerate((0, 2, 1)):
        insert(cache, index, 1, priority=priority)
    insert(cache, 1, 1)
    cache.touch(2, 1, cache.root)
    for _ in range(3):
        insert(cache, 0, 1)
    for victim in (first, second):
        assert cache.evict(1) == 1
        assert cache.match_tokens(victim, 1) == 0, eviction
    assert cache.resident == 1


def test_lfu_is_lru_where_nobody_counts() -> None:
    cache = cache_of([[1], [2]], engine="0.5.9", eviction="lfu")
    insert(cache, 0, 1)
    insert(cache, 0, 1)
    insert(cache, 1, 1)
    cache.evict(1)
    assert resident(cache, 2, 1) == [0, 1]


@pytest.mark.parametrize(("engine", "survivor"), [("0.5.9", 0), ("0.5.23", 1)])
def test_the_upper_half_of_a_split_is_young_or_as_old_as_the_lower(engine: str, survivor: int) -> None:
    """fifo: the split of 0 happens after 1 came; once its lower half is gone, is the upper older than 1?"""
    cache = cache_of([[1, 2], [5, 5], [1, 9]], engine=engine, eviction="fifo")
    insert(cache, 0, 2)
    insert(cache, 1, 2)
    cache.touch(2, 2, cache.root)
    assert cache.evict(1) == 1  # the lower half of 0, created first
    cache.evict(1)
    assert [cache.match_tokens(0, 1), cache.match_tokens(1, 1)] == [1 - survivor, survivor]


def test_an_evicted_hint_leads_to_what_is_left() -> None:
    cache = cache_of([[1, 2, 3, 4], [1, 2, 9, 9], [1, 2, 3, 4]])
    insert(cache, 0, 4)
    insert(cache, 1, 4)
    hint = cache.touch(2, 4, cache.root)
    cache.touch(1, 4, cache.root)
    cache.evict(1)
    assert not hint.alive
    assert cache.touch(2, 4, hint).end == 2
    assert cache.match_tokens(2, 4, hint) == 2


def test_runs_are_whole_pages() -> None:
    cache = cache_of([[1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 9, 9]], page_tokens=2)
    insert(cache, 0, 6)
    assert cache.match_tokens(1, 6) == 2
    assert cache.touch(1, 6, cache.root).end == 2
    cache.check_integrity()


def test_an_unbounded_cache_evicts_nothing() -> None:
    cache = cache_of([[1], [2]], eviction=None)
    insert(cache, 0, 1)
    assert cache.evict(1) == 0


def test_an_unknown_policy_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ScenarioError, match='Did you mean "lru"'):
        cache_of([[1]], eviction="lr")


@settings(max_examples=100, deadline=None)
@given(
    prompts=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=12),
    data=st.data(),
)
def test_what_is_resident_is_what_a_set_of_prefixes_says(prompts: list[list[int]], data: st.DataObject) -> None:
    """Without eviction the cache is a set of prefixes: a match is the longest common prefix with any insert."""
    cache = cache_of(prompts)
    inserted: list[list[int]] = []
    for index, prompt in enumerate(prompts):
        expected = 0
        for other in inserted:
            shared = 0
            while shared < min(len(prompt), len(other)) and prompt[shared] == other[shared]:
                shared += 1
            expected = max(expected, shared)
        assert cache.match_tokens(index, len(prompt)) == expected
        assert cache.touch(index, len(prompt), cache.root).end == expected
        tokens = data.draw(st.integers(0, len(prompt)))
        insert(cache, index, tokens)
        inserted.append(prompt[:tokens])
        cache.check_integrity()
        distinct = {tuple(other[: end + 1]) for other in inserted for end in range(len(other))}
        assert cache.resident == len(distinct)

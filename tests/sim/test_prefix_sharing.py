"""The sharing of a workload is what a cache that never forgets would hit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.prompts import Prompts
from sim.prefix_sharing import prefix_sharing, shared_tokens

MOONCAKE = Path(__file__).resolve().parents[3] / "shared/data/mooncake/conversation_trace.jsonl"

ROWS = st.lists(st.lists(st.integers(0, 1), max_size=6), max_size=9)


def _common(a: list[int], b: list[int]) -> int:
    agree = [x == y for x, y in zip(a, b, strict=False)]
    return agree.index(False) if False in agree else len(agree)


@settings(deadline=None, max_examples=200)
@given(ROWS)
def test_every_prompt_shares_what_the_definition_says(rows: list[list[int]]) -> None:
    longest = [max((_common(row, other) for other in rows[:i]), default=0) for i, row in enumerate(rows)]
    expected = [min(shared, max(len(row) - 1, 0)) for shared, row in zip(longest, rows, strict=True)]
    assert shared_tokens(Prompts.from_lists(rows)).tolist() == expected


def test_blocks_are_weighed_in_tokens_and_equal_ids_of_different_length_share_the_shorter() -> None:
    symbols, lengths = np.array([7, 8, 7, 8, 7]), np.array([4, 2, 4, 4, 3], dtype=np.int32)
    prompts = Prompts(symbols, np.array([0, 2, 4, 5]), lengths)
    assert shared_tokens(prompts).tolist() == [0, 6, 2]
    assert prefix_sharing(prompts) == 8 / 17


def test_no_prompts_share_nothing() -> None:
    assert prefix_sharing(Prompts.from_lists([])) == 0.0
    assert prefix_sharing(Prompts.from_lists([[], []])) == 0.0


@pytest.mark.skipif(not MOONCAKE.is_file(), reason="needs ../shared/data/mooncake")
def test_mooncakes_conversations_share_what_was_published_for_an_unbounded_cache() -> None:
    from sim.workloads.mooncake import Mooncake

    demand = Mooncake(path=MOONCAKE).generate(lambda _: np.random.default_rng(0))
    assert prefix_sharing(demand.prompts) == pytest.approx(0.3736, abs=5e-5)

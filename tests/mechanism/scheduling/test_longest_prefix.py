"""lpm and k-lpm against a greedy choice that compares prompts token by token."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from auction_kit import auction_of, token_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.errors import MechanismError
from mechanism.scheduling.k_lpm import KLpm
from mechanism.scheduling.lpm import Lpm
from mechanism.welfare import is_dfs_schedule


def common(first: Sequence[int], second: Sequence[int]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(map(len, (first, second)))
    )


def greedy(rows: list[list[int]], resident: list[int], oldest_every: int | None) -> list[int]:
    order: list[int] = []
    left = list(range(len(rows)))
    while left:
        if oldest_every is not None and len(order) % oldest_every == 0:
            chosen = left[0]
        else:
            chosen = max(left, key=lambda r: (max([resident[r], *(common(rows[r], rows[s]) for s in order)]), -r))
        order.append(chosen)
        left.remove(chosen)
    return order


@given(st.data(), st.sampled_from([None, 1, 2, 3]))
@settings(max_examples=150, deadline=None)
def test_equals_the_naive_greedy_choice(data: st.DataObject, k: int | None) -> None:
    rows = data.draw(token_rows)
    resident = [data.draw(st.integers(0, len(row))) for row in rows]
    auction = replace(auction_of(rows, [1.0] * len(rows)), resident_tokens=np.array(resident, dtype=np.int64))
    rule = Lpm() if k is None else KLpm(k=k)
    assert rule.order(auction).tolist() == greedy(rows, resident, k)


@given(token_rows)
@settings(max_examples=50, deadline=None)
def test_with_an_empty_cache_longest_prefix_match_is_depth_first(rows: list[list[int]]) -> None:
    auction = auction_of(rows, [1.0] * len(rows))
    assert is_dfs_schedule(auction.tree, Lpm().order(auction))


def test_k_of_1_is_arrival_order_and_a_large_one_is_lpm() -> None:
    auction = auction_of([[1, 1], [2], [1, 2], [2, 2]], [1.0] * 4)
    assert KLpm(k=1).order(auction).tolist() == [0, 1, 2, 3]
    assert KLpm(k=2).order(auction).tolist() == [0, 2, 1, 3]
    assert KLpm(k=99).order(auction).tolist() == Lpm().order(auction).tolist()
    with pytest.raises(MechanismError):
        KLpm(k=0)

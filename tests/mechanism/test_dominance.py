"""Sums over earlier and smaller members, against two loops."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.dominance import sums_over_smaller


def by_loops(key: list[int], sizes: list[int], weight: list) -> list:
    owner = [number for number, size in enumerate(sizes) for _ in range(size)]
    return [sum(weight[i] for i in range(j) if owner[i] == owner[j] and key[i] < key[j]) for j in range(len(key))]


@given(st.lists(st.lists(st.integers(-3, 3), max_size=20), max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_equals_two_loops(ranges: list[list[int]], seed: int) -> None:
    key, sizes = [k for each in ranges for k in each], [len(each) for each in ranges]
    weight = np.random.default_rng(seed).integers(0, 100, len(key))
    exact = np.array([Fraction(int(w), 7) for w in weight], dtype=object)
    found, found_exact = sums_over_smaller(np.array(key, np.int64), np.array(sizes, np.int64), weight, exact)
    assert found.tolist() == by_loops(key, sizes, weight.tolist())
    assert [7 * x for x in found_exact] == found.tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 1000])
def test_ranges_of_every_length(size: int) -> None:
    key = np.random.default_rng(size).permutation(2 * size)
    ones = np.ones(2 * size, dtype=np.int64)
    (found,) = sums_over_smaller(key, np.array([size, size]), ones)
    assert found.tolist() == by_loops(key.tolist(), [size, size], ones.tolist())


def test_weights_are_left_alone() -> None:
    weight = np.array([1, 2, 3])
    sums_over_smaller(np.array([1, 2, 3]), np.array([3]), weight)
    assert weight.tolist() == [1, 2, 3]

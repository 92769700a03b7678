import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.ranges import changes, expand, runs, suffix_sums_after


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=8))
@settings(max_examples=50, deadline=None)
def test_expand_lists_the_members_of_every_range(ranges: list[tuple[int, int]]) -> None:
    starts, sizes = (np.array([pair[i] for pair in ranges], dtype=np.int64) for i in (0, 1))
    want = [start + step for start, size in ranges for step in range(size)]
    assert expand(starts, sizes).tolist() == want


def test_changes_and_runs_of_nothing_are_empty() -> None:
    begins = changes(np.empty(0, dtype=np.int64))
    assert begins.tolist() == []
    assert [bounds.tolist() for bounds in runs(begins)] == [[], []]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), max_size=5))
@settings(max_examples=100, deadline=None)
def test_suffix_sums_stay_inside_their_range(ranges: list[list[int]]) -> None:
    values = np.array([value for part in ranges for value in part], dtype=np.int64)
    sizes = [len(part) for part in ranges]
    ends = np.repeat(np.cumsum(sizes, dtype=np.int64), sizes)
    want = [sum(part[i + 1 :]) for part in ranges for i in range(len(part))]
    assert suffix_sums_after(values, ends).tolist() == want


def test_a_small_range_keeps_its_digits_beside_a_large_one() -> None:
    values = np.array([1e20, 1e20, 3e-9, 1e-9, 2e-9])
    assert suffix_sums_after(values, np.array([2, 2, 5, 5, 5]))[2:].tolist() == [1e-9 + 2e-9, 2e-9, 0.0]

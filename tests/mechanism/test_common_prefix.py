import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism import common_prefix
from mechanism.common_prefix import common_symbols


def naive(text: list[int], left: int, right: int, limit: int) -> int:
    shared = 0
    while shared < limit and text[left + shared] == text[right + shared]:
        shared += 1
    return shared


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_equals_the_symbol_by_symbol_count(data: st.DataObject) -> None:
    text = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=30))
    places = st.integers(0, len(text) - 1)
    pairs = data.draw(st.lists(st.tuples(places, places), min_size=1, max_size=6))
    limits = [len(text) - max(pair) for pair in pairs]
    left, right = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_prefix, "_FIRST_WIDTH", data.draw(st.sampled_from([1, 2, 32])))
        patch.setattr(common_prefix, "_BLOCK", data.draw(st.sampled_from([1, 16, 1 << 17])))
        patch.setattr(common_prefix, "_LEAST_WIDTH", data.draw(st.sampled_from([1, 8])))
        found = common_symbols([np.array(text)], left, right, np.array(limits))
    assert found.tolist() == [naive(text, *pair, limit) for pair, limit in zip(pairs, limits, strict=True)]


def test_all_columns_must_agree() -> None:
    ids, lengths = np.array([5, 6, 5, 6]), np.array([1, 2, 1, 3])
    assert common_symbols([ids, lengths], np.array([0]), np.array([2]), np.array([2])).tolist() == [1]


def test_nothing_may_be_compared() -> None:
    none = np.empty(0, dtype=np.int64)
    assert common_symbols([none], none, none, none).tolist() == []
    assert common_symbols([np.array([1])], np.array([0]), np.array([0]), np.array([0])).tolist() == [0]


def test_a_long_common_prefix_in_many_windows() -> None:
    text = np.tile(np.arange(5000, dtype=np.int32), 2)
    text[9000] = -1
    assert common_symbols([text], np.array([0]), np.array([5000]), np.array([5000])).tolist() == [4000]

"""Intervals against tables and counts made by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.compare_stats import bootstrap_intervals, interval_of

#: The 97.5 % points of Student's t, from printed tables.
T = {1: 12.7062, 2: 4.30265, 4: 2.77645, 9: 2.26216}


@pytest.mark.parametrize(
    ("values", "mean", "se"),
    [
        ([1.0, 3.0], 2.0, 1.0),
        ([1.0, 2.0, 6.0], 3.0, math.sqrt(7 / 3)),
        ([0.0, 1.0, 2.0, 3.0, 4.0], 2.0, math.sqrt(2.5 / 5)),
        ([float(n) for n in range(10)], 4.5, math.sqrt(55 / 6 / 10)),
    ],
)
def test_a_t_interval_is_the_tables(values: list[float], mean: float, se: float) -> None:
    found = interval_of([*values, None])
    assert (found.mean, found.se, found.n) == (pytest.approx(mean), pytest.approx(se), len(values))
    half = T[len(values) - 1] * se
    assert (found.low, found.high) == (pytest.approx(mean - half, rel=1e-4), pytest.approx(mean + half, rel=1e-4))


def test_what_has_no_interval_says_so() -> None:
    assert (interval_of([]).mean, interval_of([None]).n) == (None, 0)
    one = interval_of([3.0])
    assert (one.mean, one.low, one.told) == (3.0, None, None)


def test_told_is_whether_zero_is_outside() -> None:
    assert interval_of([1.0, 3.0]).told is False  # 2 ± 12.7
    assert interval_of([10.0, 10.1, 10.2]).told is True
    assert interval_of([0.0, 0.0]).told is False
    assert interval_of([2.0, 2.0]).told is True


def test_of_two_values_a_bootstrap_interval_is_the_two() -> None:
    """A resample's mean is one of the two with chance ¼ each: more than the 2.5 % that an end leaves out."""
    assert bootstrap_intervals([[1.0, 5.0], [2.0], [7.0, 7.0], []]) == [(1.0, 5.0), None, (7.0, 7.0), None]


def test_a_bootstrap_interval_is_its_binomial() -> None:
    """Of ten values, nine 0 and one 1, a resample holds k ones with chance C(10, k)·0.1^k·0.9^(10−k).

    Pr(0) = 0.35 > 2.5 %; Pr(≤ 2) = 0.930 and Pr(≤ 3) = 0.987, so the ends are 0 and 3 ones.
    """
    [found] = bootstrap_intervals([[0.0] * 9 + [1.0]])
    assert found == (0.0, pytest.approx(0.3))


def test_a_bootstrap_is_the_same_each_time_and_in_any_company() -> None:
    sample = [1.0, 4.0, 9.0, 16.0]
    [alone] = bootstrap_intervals([sample])
    assert bootstrap_intervals([[1.0, 2.0], sample])[1] == alone


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8))
def test_an_interval_holds_its_mean(values: list[float]) -> None:
    found = interval_of(values)
    assert found.low is not None
    assert found.high is not None
    assert found.mean is not None
    assert found.low <= found.mean <= found.high

"""Arithmetic on many contiguous ranges of one array at once; no Python loop over the ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray

__all__ = ["changes", "expand", "runs", "suffix_sums_after"]


def expand(starts: IntArray, sizes: IntArray) -> IntArray:
    """The members of the ranges [start, start + size), one range after the other; O(Σ sizes).

    >>> expand(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    members: IntArray = np.arange(total) + np.repeat(starts - (ends - sizes), sizes)
    return members


def changes(*keys: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """True where a run of equal keys begins; the first entry always does.

    >>> changes(np.array([4, 4, 7]), np.array([1, 1, 1])).tolist()
    [True, False, True]
    """
    begins = np.ones(len(keys[0]), dtype=np.bool_)
    if len(begins):
        begins[1:] = keys[0][1:] != keys[0][:-1]
        for key in keys[1:]:
            begins[1:] |= key[1:] != key[:-1]
    return begins


def runs(begins: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Where the marked runs begin and end; the first entry is marked.

    >>> [bounds.tolist() for bounds in runs(np.array([True, False, True]))]
    [[0, 2], [2, 3]]
    """
    begin = begins.nonzero()[0]
    end = np.empty_like(begin)
    end[:-1], end[-1:] = begin[1:], len(begins)
    return begin, end


def suffix_sums_after(values: npt.NDArray[Any], ends: IntArray) -> npt.NDArray[Any]:
    """Σ of the entries strictly after k and before ends[k], the end of k's range.

    Each sum is built by doubling, from entries of its own range alone. One running total over the whole array would
    be faster, but in float64 it drowns small ranges in the rounding of large ones.
    O(S log(longest range)).

    Parameters
    ----------
    values : (S,) numbers ≥ 0, any dtype that adds, `object` included.
    ends : (S,) nondecreasing; k and ends[k] − 1 lie in the same range, so ends[k] > k.

    >>> suffix_sums_after(np.array([1, 2, 3, 4]), np.array([3, 3, 3, 4])).tolist()
    [5, 3, 0, 0]
    """
    after = ends - np.arange(len(ends)) - 1  # entries of the range right of k
    sums = np.zeros_like(values)
    if len(values) == 0:
        return sums
    sums[:-1] = np.where(after[:-1] > 0, values[1:], sums[:-1])
    reach, longest = 1, int(after.max())
    while reach < longest:
        more = np.flatnonzero(after > reach)
        sums[more] = sums[more] + sums[more + reach]
        reach *= 2
    return sums

"""Sums over the earlier members of a range that have a smaller key: all pairs at once, without looking at each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray
from mechanism.ranges import changes, expand

__all__ = ["sums_over_smaller"]

BoolArray = npt.NDArray[np.bool_]


def sums_over_smaller(key: IntArray, sizes: IntArray, *weights: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """For every slot j and each weight w: Σ w_i over the slots i before j in the same range with key_i < key_j.

    The ranges are halved again and again. Whenever a half is parted from its neighbour, slots of the right half look
    up how much of the left one lies below their key, in a running sum over both in order of the key.
    O(S log(longest range)) after one sort; no Python loop over slots or ranges.

    Parameters
    ----------
    key : (S,) integers.
    sizes : lengths of the ranges, one after the other; they add up to S.
    weights : (S,) numbers of any dtype that adds; floats should be wide, for sums are differences of running sums.

    >>> key, sizes, weight = np.array([2, 1, 3, 5]), np.array([3, 1]), np.array([10, 20, 40, 80])
    >>> [sums.tolist() for sums in sums_over_smaller(key, sizes, weight)]
    [[0, 0, 30, 0]]
    """
    size = np.repeat(sizes, sizes)
    place = expand(np.zeros(len(sizes), dtype=np.int64), sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    # among equal keys the later first, or they would count as smaller
    waiting: IntArray = np.lexsort((-place, key, owner))
    sums = tuple(np.zeros_like(weight) for weight in weights)
    order = waiting[:0]
    half = 1 << max(int(sizes.max(initial=0)) - 1, 0).bit_length() >> 1
    while half:
        joins = size[waiting] > half
        order, waiting = np.concatenate((order, waiting[joins])), waiting[~joins]
        begins = changes(owner[order], place[order] // (2 * half))
        start, block = np.flatnonzero(begins), np.cumsum(begins) - 1
        right = (place[order] & half) != 0
        for weight, result in zip(weights, sums, strict=True):
            _look_up(order, start, block, right, weight, result)
        order = _part(order, start, block, right)
        half >>= 1
    return sums


def _look_up(
    order: IntArray,
    start: IntArray,
    block: IntArray,
    right: BoolArray,
    weight: npt.NDArray[Any],
    sums: npt.NDArray[Any],
) -> None:
    """Add to every right slot what the left ones ahead of it in its block weigh."""
    left = weight[order]
    left[right] = 0
    ahead = np.cumsum(left)
    before = (ahead - left)[start]
    sums[order[right]] += (ahead - before[block])[right]


def _part(order: IntArray, start: IntArray, block: IntArray, right: BoolArray) -> IntArray:
    """Every block's left slots before its right ones, both in the order they had."""
    rights = np.cumsum(right)
    before: IntArray = rights - right  # right slots ahead of each
    since: IntArray = before - before[start][block]  # and ahead of it in its own block
    first_right = np.append(start[1:], len(order)) - np.add.reduceat(right, start, dtype=np.int64)
    place = np.arange(len(order)) - since
    place[right] = (first_right[block] + since)[right]
    parted = np.empty_like(order)
    parted[place] = order
    return parted

"""How many leading symbols two runs share, for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray

__all__ = ["common_symbols"]

_FIRST_WIDTH = 32  # most pairs part within a few symbols, and fetching a few costs as much as fetching these
_LEAST_WIDTH = 8  # when there are so many pairs that their windows fill the memory
_GROWTH = 8
_BLOCK = 1 << 17  # symbols compared at once: both sides and the answer stay in a second-level cache


def common_symbols(columns: Sequence[IntArray], left: IntArray, right: IntArray, limit: IntArray) -> IntArray:
    """Leading symbols in which each pair of runs agrees, at most `limit`.

    Windows of growing width are compared, and only of the pairs that still agree, so a pair costs a small multiple of
    what it shares: O(Σ shared + pairs).

    Parameters
    ----------
    columns : (S,) arrays that must agree entry by entry (ids, and lengths where symbols have them).
    left, right : (P,) starts of the two runs.
    limit : (P,) symbols that may be compared; both runs lie inside the columns for that long.

    >>> text = np.array([1, 2, 3, 1, 2, 4])
    >>> common_symbols([text], np.array([0]), np.array([3]), np.array([3])).tolist()
    [2]
    """
    shared = np.zeros(len(left), dtype=np.int64)
    active = np.flatnonzero(limit)
    width = _FIRST_WIDTH
    while len(active):
        so_far = shared[active]
        room = limit[active] - so_far
        width = min(width, int(room.max()), max(_LEAST_WIDTH, _BLOCK // len(active)))
        agreed = _agreed(columns, left[active] + so_far, right[active] + so_far, width)
        shared[active] = so_far + np.minimum(agreed, room)
        active = active[(agreed == width) & (room > width)]
        width *= _GROWTH
    return shared


def _agreed(columns: Sequence[IntArray], left: IntArray, right: IntArray, width: int) -> IntArray:
    """(P,) leading symbols in which two windows agree, up to `width`."""
    differs = np.empty((len(left), width + 1), dtype=np.bool_)
    differs[:, width] = True  # a wall behind the window
    inner = differs[:, :width]
    np.not_equal(_windows(columns[0], left, width), _windows(columns[0], right, width), out=inner)
    for column in columns[1:]:
        inner |= _windows(column, left, width) != _windows(column, right, width)
    agreed: IntArray = differs.argmax(axis=1)
    return agreed


def _windows(column: IntArray, starts: IntArray, width: int) -> npt.NDArray[Any]:
    """(P, width) copies of `column[start:start + width]`; what would lie behind the end repeats the last entry."""
    last = len(column) - width
    step = column.itemsize
    view: npt.NDArray[Any] = np.ndarray((last + 1, width), column.dtype, column, strides=(step, step))
    if starts.max() <= last:
        return view[starts]
    late = np.flatnonzero(starts > last)
    rows = view[np.minimum(starts, last)]
    rows[late] = column[np.minimum(starts[late, None] + np.arange(width), len(column) - 1)]
    return rows

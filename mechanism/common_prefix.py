"""How many leading symbols two runs share, for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray

__all__ = ["common_symbols"]

_FIRST_WIDTH = 8  # most pairs part within a few symbols
_BLOCK = 1 << 17  # symbols compared per step: both sides and the answer stay in a second-level cache


def common_symbols(columns: Sequence[IntArray], left: IntArray, right: IntArray, limit: IntArray) -> IntArray:
    """Leading symbols in which each pair of runs agrees, at most `limit`.

    Windows of growing width are compared, and only of the pairs that still agree, so a pair costs about what it
    shares: O(Σ shared + pairs).

    Parameters
    ----------
    columns : (S,) arrays that must agree entry by entry (ids, and lengths where symbols have them).
    left, right : (P,) starts of the two runs.
    limit : (P,) symbols that may be compared; both runs lie inside the columns for that long.
    """
    shared = np.zeros(len(left), dtype=np.int64)
    active = np.flatnonzero(limit > 0)
    width = _FIRST_WIDTH
    while len(active):
        width = max(1, min(width, len(columns[0]), max(_FIRST_WIDTH, _BLOCK // len(active))))
        so_far = shared[active]
        differs = _differs(columns, left[active] + so_far, right[active] + so_far, width)
        first = differs.argmax(axis=1)
        parted = differs[np.arange(len(active)), first]
        reached = np.where(parted, so_far + first, so_far + width)
        shared[active] = reached = np.minimum(reached, limit[active])
        active = active[~parted & (reached < limit[active])]
        width *= 4
    return shared


def _differs(columns: Sequence[IntArray], left: IntArray, right: IntArray, width: int) -> npt.NDArray[np.bool_]:
    """(P, width): where the two windows differ in any column."""
    differs: npt.NDArray[np.bool_] = _windows(columns[0], left, width) != _windows(columns[0], right, width)
    for column in columns[1:]:
        differs |= _windows(column, left, width) != _windows(column, right, width)
    return differs


def _windows(column: IntArray, starts: IntArray, width: int) -> npt.NDArray[Any]:
    """(P, width) copies of `column[start:start + width]`; what would lie behind the end repeats the last entry."""
    last = len(column) - width
    step = column.itemsize
    view: npt.NDArray[Any] = np.ndarray((last + 1, width), column.dtype, column, strides=(step, step))
    late = np.flatnonzero(starts > last)
    if len(late) == 0:
        return view[starts]
    rows = view[np.minimum(starts, last)]
    rows[late] = column[np.minimum(starts[late, None] + np.arange(width), len(column) - 1)]
    return rows

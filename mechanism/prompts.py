"""Prompts as symbols: the one representation every room shares.

A prompt is a sequence of symbols. A symbol has a 64-bit id and a length in tokens: token ids have length 1,
trace blocks have 512 or any other length, the last one of a prompt weighted by its remainder. Blocks are never
expanded. Token t of a prompt is the pair (id of the symbol that holds it, offset inside that symbol): two
prompts share their first k tokens when these pairs agree, so equal ids of different length share the shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "IntArray", "Prompts", "compact", "offsets"]

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Prompts:
    """n prompts in compressed sparse rows.

    Attributes
    ----------
    symbols : (S,) ids, int32 where they fit, else int64.
    indptr : (n + 1,) int64; prompt r is ``symbols[indptr[r]:indptr[r + 1]]``.
    lengths : (S,) tokens of each symbol, int32; None when every symbol is one token.
    """

    symbols: IntArray
    indptr: IntArray
    lengths: IntArray | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_tokens(self) -> IntArray:
        """(n,) int64 prompt lengths in tokens."""
        if self.lengths is None:
            return np.diff(self.indptr)
        ends = offsets(self.lengths)
        return ends[self.indptr[1:]] - ends[self.indptr[:-1]]

    def take(self, indices: IntArray) -> Prompts:
        """The prompts at `indices`, in that order; O(symbols taken)."""
        starts, counts = self.indptr[indices], np.diff(self.indptr)[indices]
        indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        flat = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
        return Prompts(self.symbols[flat], indptr, None if self.lengths is None else self.lengths[flat])

    @classmethod
    def from_lists(cls, rows: Iterable[Sequence[int]]) -> Prompts:
        """Prompts of single-token symbols.

        >>> Prompts.from_lists([[1, 2], [], [1]]).num_tokens.tolist()
        [2, 0, 1]
        """
        rows = list(rows)
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64))).astype(np.int64)
        flat = np.fromiter((token for row in rows for token in row), dtype=np.int64, count=int(indptr[-1]))
        return cls(compact(flat), indptr)


def offsets(sizes: IntArray) -> IntArray:
    """(n + 1,) int64: 0 and the running totals of n sizes.

    Chunk by chunk: numpy would first make an int64 copy of all sizes, larger than any other array of a large trace.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    for begin in range(0, len(sizes), _CHUNK):
        totals = ends[begin + 1 : begin + 1 + _CHUNK]
        np.cumsum(sizes[begin : begin + _CHUNK], out=totals)
        totals += ends[begin]
    return ends


def compact(ids: IntArray) -> IntArray:
    """`ids` as int32 where every id fits, else as int64."""
    bounds = np.iinfo(np.int32)
    fits = len(ids) == 0 or (ids.min() >= bounds.min and ids.max() <= bounds.max)
    return ids.astype(np.int32 if fits else np.int64)

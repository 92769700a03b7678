"""Closed-loop sessions: which request waits for which, and how long its user thinks in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanism.prompts import IntArray

__all__ = ["previous_turns", "turn_numbers"]


def turn_numbers(session: Sequence[str]) -> IntArray:
    """(n,) how many earlier entries belong to the same session.

    >>> turn_numbers(["a", "b", "a"]).tolist()
    [0, 0, 1]
    """
    seen: dict[str, int] = {}
    turns = np.empty(len(session), dtype=np.int64)
    for i, name in enumerate(session):
        turns[i] = seen.get(name, 0)
        seen[name] = int(turns[i]) + 1
    return turns


def previous_turns(session: Sequence[str], turn: IntArray) -> IntArray:
    """(n,) index of the entry one place earlier in its session by (turn, file order), −1 for the first.

    >>> previous_turns(["a", "b", "a"], np.array([3, 0, 1])).tolist()
    [2, -1, -1]
    """
    number: dict[str, int] = {}
    index = np.array([number.setdefault(name, len(number)) for name in session], dtype=np.int64)
    order = np.lexsort((np.arange(len(index)), turn, index))
    previous = np.full(len(index), -1, dtype=np.int64)
    same = index[order][1:] == index[order][:-1]
    previous[order[1:][same]] = order[:-1][same]
    return previous

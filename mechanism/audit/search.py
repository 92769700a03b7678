"""Hill climbing over factors: the local search behind every manipulation of bids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mechanism.prompts import FloatArray, IntArray

__all__ = ["best_of", "climb"]

Point = TypeVar("Point")

#: Relative steps, coarse to fine: the last changes a bid by half a per cent.
STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)


def best_of(points: Iterable[Point], score: Callable[[Point], float]) -> tuple[Point, float]:
    """The point with the highest score, and the score; the first of equals."""
    best: tuple[Point, float] | None = None
    for point in points:
        found = score(point)
        if best is None or found > best[1]:
            best = point, found
    assert best is not None, "no points to choose from"
    return best


def climb(
    start: FloatArray, value: float, moves: Sequence[IntArray], score: Callable[[FloatArray], float]
) -> tuple[FloatArray, float]:
    """Improve factors by multiplying groups of them with 1 ± step, finer and finer.

    Parameters
    ----------
    start, value : (k,) factors ≥ 0 and their score.
    moves : groups of indices that move together.

    Utilities are step functions of bids, so a move is kept only if it is better, and every step size is tried again
    after the ones before. At most 2·len(STEPS)·len(moves) evaluations beyond the improving ones.
    """
    best, best_value = start, value
    for step in STEPS:
        for group in moves:
            for factor in (1 + step, 1 / (1 + step)):
                tried = best.copy()
                tried[group] *= factor
                found = score(tried)
                if found > best_value:
                    best, best_value = tried, found
    return best, best_value

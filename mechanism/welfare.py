"""Fractional priority and welfare, on scheduled and on realised orders.

x_r(σ) = (number of requests after r)/(n − 1), in [0, 1]; x = 1 when n = 1 (nobody is ahead).
W(σ; v) = Σ v_r·x_r(σ), and Φ = (n − 1)·W.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.dfs import families_in
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree

__all__ = [
    "is_dfs_schedule",
    "phi",
    "priority",
    "realised_priority",
    "requests_after",
    "unconstrained_optimum",
    "welfare",
]


def requests_after(order: IntArray) -> IntArray:
    """(n,) how many requests are served after each request.

    >>> requests_after(np.array([2, 0, 1])).tolist()
    [1, 0, 2]
    """
    after = np.empty(len(order), dtype=np.int64)
    after[order] = np.arange(len(order) - 1, -1, -1)
    return after


def priority(order: IntArray) -> FloatArray:
    """(n,) fractional priority x_r of each request [paper §3.1].

    >>> priority(np.array([2, 0, 1])).tolist(), priority(np.array([0])).tolist()
    ([0.5, 0.0, 1.0], [1.0])
    """
    n = len(order)
    return requests_after(order) / (n - 1) if n != 1 else np.ones(1)


def phi(weights: npt.NDArray[Any], order: IntArray) -> Any:
    """Φ(σ; v) = Σ v_r · (requests after r) = (n − 1)·W; exact for `Fraction` weights, 0 for n = 1."""
    return (weights * requests_after(order)).sum()


def welfare(values: FloatArray, order: IntArray) -> float:
    """W(σ; v) = Σ v_r x_r, in money."""
    return float(values @ priority(order))


def unconstrained_optimum(values: FloatArray) -> float:
    """The welfare of the best of all permutations: values in descending order.

    Average-value DFS is at least half of it on every tree (the half bound).
    """
    return welfare(values, np.argsort(-values, kind="stable"))


def is_dfs_schedule(tree: RadixTree, order: IntArray) -> bool:
    """Whether the requests of every subtree stand together in `order`. O(M + n)."""
    return families_in(tree, order) is not None


def realised_priority(
    first_token: npt.NDArray[Any], submission: IntArray, cohort: IntArray | None = None
) -> FloatArray:
    """(n,) x_r with ranks by time to first token inside each cohort, ties by submission.

    Parameters
    ----------
    first_token : (n,) time to first token in any unit, infinite for a request that failed (it ranks last).
    submission : (n,) place in the order of submission.
    cohort : (n,) any integers; requests are ranked among those of the same number. None: all of them together.

    >>> realised_priority(np.array([3.0, 1.0, 3.0, 9.0]), np.arange(4), np.array([0, 0, 0, 1])).tolist()
    [0.5, 1.0, 0.0, 1.0]
    """
    group = np.zeros(len(first_token), np.int64) if cohort is None else np.unique(cohort, return_inverse=True)[1]
    order = np.lexsort((submission, first_token, group))
    size = np.bincount(group)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    others = size[group] - 1
    return np.where(others > 0, (others - rank) / np.maximum(others, 1), 1.0)

"""Depth-first schedules of a radix tree: average weights, families in their order, positions; without recursion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray
from mechanism.radix_tree import RadixTree
from mechanism.ranges import changes

__all__ = ["averages", "by_average", "dfs_order", "families_in", "weight_totals"]


def weight_totals(tree: RadixTree, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(V + n,) F(u) = Σ of the weights (bids, values) below each vertex, in the widest float there is.

    Floats are summed in extended precision, so that what is equal stays equal: ten bids of 0.1 average 0.1. (Where a
    platform has none, numpy's longdouble is float64 and rounding may decide such ties; the order stays a function of
    the auction.) Other dtypes (`object` arrays of `fractions.Fraction`) are summed as they are.
    """
    wide = np.longdouble if weights.dtype.kind in "fiu" else weights.dtype
    return tree.totals(weights.astype(wide))


def averages(tree: RadixTree, totals: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(V + n,) F(u)/N(u), the one key by which vertices are compared everywhere (Algorithm 1, line of the sort).

    The quotient of the extended-precision sum is rounded to float64 once. Averages that are the same double are a
    tie, those that differ only below its last digit included; exact for `Fraction`.
    """
    quotient: npt.NDArray[Any] = totals / np.maximum(tree.num_requests, 1)
    return quotient if totals.dtype == object else quotient.astype(np.float64)


def by_average(tree: RadixTree, average: npt.NDArray[Any]) -> IntArray:
    """(V + n − 1,) children of every node, node after node, each family by average descending.

    Ties keep the smallest arrival index in the subtree first. O(n log n).
    """
    keys, size = -average[tree.children], len(tree.children)
    order = np.argsort(keys)
    if not changes(keys[order]).all():  # a stable sort is several times slower, and only ties need it
        order = np.argsort(keys, kind="stable")
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    family = tree.family * size
    return tree.children[order][np.sort(family + rank) - family]  # sorting the ranks inside each family


def families_in(tree: RadixTree, order: IntArray) -> tuple[IntArray, IntArray] | None:
    """The children of every node as a schedule meets them, and where each begins; None if it is not depth-first.

    Both (V + n − 1,): vertices, node after node, each family by its first position in `order`; and that position. A
    schedule is depth-first when every child begins where its elder sibling ends. O(M + n log n), M = Σ_u N(u).
    """
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    first = tree.least(position)[1:]
    children = np.argsort(tree.parent[1:] * np.int64(len(order)) + first)
    begin, children = first[children], children + 1
    family = tree.family
    together = begin[1:] == (begin + tree.num_requests[children])[:-1]
    return (children, begin) if np.all(together | (family[1:] != family[:-1])) else None


def dfs_order(tree: RadixTree, children: IntArray) -> IntArray:
    """(n,) request indices as a depth-first walk meets them, given the children of every node in visiting order.

    A request stands behind the elder siblings of each of its ancestors. Those counts are added over the range of leaves
    an ancestor covers by one running sum, so a chain of any depth costs no more than a star: O(n).
    """
    n, num_nodes = tree.num_leaves, tree.num_nodes
    num_requests = tree.num_requests
    ahead = np.cumsum(num_requests[children]) - num_requests[children]  # counts from the very first family on
    if n:
        ahead -= np.repeat(ahead[tree.indptr[:-1]], np.diff(tree.indptr))
    elders = np.zeros(num_nodes + n, dtype=np.int64)
    elders[children] = ahead
    steps = np.zeros(n + 1, dtype=np.int64)
    np.add.at(steps, tree.start, elders[:num_nodes])
    np.subtract.at(steps, tree.stop, elders[:num_nodes])
    position = np.cumsum(steps)[:n] + elders[num_nodes:]
    order = np.empty(n, dtype=np.int64)
    order[position] = tree.leaves
    return order

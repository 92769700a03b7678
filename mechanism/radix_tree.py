"""Prompts → request-augmented radix tree, in flat arrays.

Common prefixes are merged, non-branching paths contracted, and every request is its own leaf: identical prompts
are sibling leaves, a prompt that ends inside the tree is a leaf child of the node where it ends, an empty prompt a
leaf of the root (MATH.md, Instance).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray, Prompts
from mechanism.radix_build import partition

__all__ = ["RadixTree", "build_tree", "star_tree"]


@dataclass(frozen=True, slots=True)
class RadixTree:
    """A tree with V nodes and n leaves; together they are its V + n *vertices*.

    Vertices 0 … V − 1 are the nodes in preorder (0 is the root, parents come before children); vertex V + q is the
    q-th leaf, that of request `leaves[q]`. Every node covers the leaves `leaves[start:stop]`, so a sum over a subtree
    is a sum over a range, and what belongs together lies together. Except for the root, every node has at least two
    children.

    Attributes
    ----------
    leaves : (n,) request of each leaf, in an order that keeps every subtree contiguous.
    start, stop : (V,) the range of leaves below each node.
    depth_tokens : (V,) tokens on the path from the root.
    parent : (V + n,) node above each vertex; the root is its own.
    num_requests : (V + n,) N(u): requests below each vertex, 1 for a leaf.
    first_arrival : (V + n,) smallest request index below each vertex; it breaks ties.
    children : (V + n − 1,) the children of every node, node after node, each family by `first_arrival`.
    indptr : (V + 1,) the children of u are ``children[indptr[u]:indptr[u + 1]]``.
    """

    leaves: IntArray
    start: IntArray
    stop: IntArray
    depth_tokens: IntArray
    parent: IntArray
    num_requests: IntArray
    first_arrival: IntArray
    children: IntArray
    indptr: IntArray

    @property
    def num_leaves(self) -> int:
        """Requests."""
        return len(self.leaves)

    @property
    def num_nodes(self) -> int:
        """Nodes, the root among them; leaves are not nodes."""
        return len(self.start)

    @property
    def family(self) -> IntArray:
        """(V + n − 1,) the parent of each entry of `children`; nondecreasing, whatever the order inside families."""
        return np.repeat(np.arange(self.num_nodes), np.diff(self.indptr))

    def totals(self, per_request: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(V + n,) Σ over the requests below each vertex; F_b(u) when given the bids.

        Each sum runs over its own leaves alone, so a small one keeps its digits beside a large one. O(M + n) with
        M = Σ_u N(u), at most the number of prompt symbols for token prompts (each branching above a leaf
        needs a token of its own).
        """
        leaves = per_request[self.leaves]
        return np.concatenate((reduce_ranges(np.add, leaves, self.start, self.stop), leaves))

    def least(self, per_request: IntArray) -> IntArray:
        """(V + n,) smallest of a per-request number below each vertex; O(M + n)."""
        leaves = per_request[self.leaves]
        return np.concatenate((reduce_ranges(np.minimum, leaves, self.start, self.stop), leaves))

    def greatest(self, per_request: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(V + n,) greatest of a per-request number below each vertex; O(M + n)."""
        leaves = per_request[self.leaves]
        return np.concatenate((reduce_ranges(np.maximum, leaves, self.start, self.stop), leaves))


def reduce_ranges(ufunc: np.ufunc, values: npt.NDArray[Any], start: IntArray, stop: IntArray) -> npt.NDArray[Any]:
    """`ufunc.reduce(values[start:stop])` for ranges with nondecreasing starts; empty ranges give 0.

    Walked from the last range to the first, so that what `reduceat` computes between two ranges is one entry.
    """
    bounds = np.empty(2 * len(start), dtype=np.int64)
    bounds[::2], bounds[1::2] = start[::-1], stop[::-1]
    padded = np.concatenate((values, np.zeros(1, dtype=values.dtype)))  # the last stop may be the end
    result: npt.NDArray[Any] = ufunc.reduceat(padded, bounds)[::2][::-1]
    return result


def star_tree(num_requests: int) -> RadixTree:
    """The tree under which every permutation is a DFS schedule: n leaves of one root.

    >>> star_tree(3).children.tolist()
    [1, 2, 3]
    """
    n = num_requests
    return assemble(
        np.arange(n), np.zeros(1, np.int64), np.full(1, n), np.zeros(1, np.int64), np.zeros(n + 1, np.int64)
    )


def build_tree(prompts: Prompts) -> RadixTree:
    """The request-augmented radix tree of n prompts.

    O(shared symbols · log n) expected, no Python loop over tokens, nodes or prompts: see `mechanism.radix_build`.

    Raises
    ------
    MechanismError
        The prompts are not well formed: lengths below 1 or offsets that do not fit the symbols.

    >>> tree = build_tree(Prompts.from_lists([[7, 8], [7, 9], [7], [1]]))
    >>> tree.depth_tokens.tolist(), tree.num_requests[: tree.num_nodes].tolist()
    ([0, 1], [4, 3])
    """
    return assemble(*partition(prompts))


def assemble(leaves: IntArray, start: IntArray, stop: IntArray, depth_tokens: IntArray, parent: IntArray) -> RadixTree:
    """A tree from its nodes in preorder: adds first arrivals and families."""
    n, num_nodes = len(leaves), len(start)
    earliest = reduce_ranges(np.minimum, leaves, start, stop) if n else np.zeros(1, dtype=np.int64)
    first_arrival = np.concatenate((earliest, leaves))
    children = np.argsort(parent[1:] * np.int64(n) + first_arrival[1:]) + 1  # no two siblings share a first arrival
    degree = np.bincount(parent[1:], minlength=num_nodes)
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(degree)))
    num_requests = np.concatenate((stop - start, np.ones(n, dtype=np.int64)))
    return RadixTree(leaves, start, stop, depth_tokens, parent, num_requests, first_arrival, children, indptr)

"""The first levels of a batch's prompt tree, small enough for a page: tree.json of a run folder."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree

__all__ = ["tree_summary"]

BoolArray = npt.NDArray[np.bool_]


def tree_summary(
    tree: RadixTree,
    bids: FloatArray,
    values: FloatArray,
    max_levels: int = 4,
    max_nodes: int = 200,
    min_share: float = 1 / 150,
) -> dict[str, Any]:
    """The biggest subtrees near the root, with average bids and values.

    Parameters
    ----------
    tree : the radix tree of n prompts.
    bids, values : (n,) per request.
    max_levels : levels below the root that are listed.
    min_share : least share of the batch's requests a listed subtree holds; a smaller one cannot be seen.
    max_nodes : subtrees that are listed, the root among them; the biggest, ties by average bid, then by arrival.

    Returns
    -------
    ``{"nodes": […], "levels": deepest level listed, "note": what was left out}``. A node is ``{"id", "parent"
    (None for the root), "depth_tokens", "requests", "children", "average_bid", "average_value", "merged"}``; nodes
    come in preorder, siblings by average bid descending as average-bid DFS visits them (Algorithm 1; ties by first
    arrival). `depth_tokens` is the length of the shared prefix, None for a single request. Where some children of a
    node are listed and others are not, the others are summed in one last sibling whose `merged` says how many they
    are; `merged` is 0 everywhere else. So `requests` of siblings always add up to their parent's.

    O(V + n) for the totals, O(ν log ν) for each listed node.

    >>> from mechanism.prompts import Prompts
    >>> from mechanism.radix_tree import build_tree
    >>> tree = build_tree(Prompts.from_lists([[1, 2], [1, 3], [4]]))
    >>> summary = tree_summary(tree, np.array([1.0, 2.0, 4.0]), np.ones(3), max_levels=1)
    >>> [(node["requests"], node["average_bid"]) for node in summary["nodes"]]
    [(3, 2.3333333333333335), (1, 4.0), (2, 1.5)]
    """
    size = tree.num_requests
    if not tree.num_leaves:
        return {"nodes": [], "levels": 0, "note": "The batch is empty."}
    average = tree.totals(bids) / size
    big_enough = size >= min_share * tree.num_leaves
    listed, levels = _biggest(tree, size, average, big_enough, max_levels, max_nodes)
    writer = _Writer(tree, size, average, tree.totals(values) / size, listed)
    writer.visit(0, None)
    vertices = tree.num_nodes + tree.num_leaves
    left = vertices - len(writer.vertices)
    note = f"Listed: {len(writer.vertices):,} of {vertices:,} subtrees, the biggest first, down to level {levels}."
    return {"nodes": writer.nodes, "levels": levels, "note": note if left else ""}


def _biggest(
    tree: RadixTree, size: IntArray, average: FloatArray, allowed: BoolArray, max_levels: int, max_nodes: int
) -> tuple[dict[int, list[int]], int]:
    """node → its listed children, and the deepest listed level; the biggest candidate is taken next."""
    listed: dict[int, list[int]] = {0: []}
    queue: list[tuple[int, float, int, int, int]] = []
    taken, deepest = 1, 0

    def offer(node: int, level: int) -> None:
        children = tree.children[tree.indptr[node] : tree.indptr[node + 1]]
        children = children[allowed[children]]
        order = np.lexsort((tree.first_arrival[children], -average[children], -size[children]))
        for child in children[order[:max_nodes]].tolist():
            rank = (-int(size[child]), -float(average[child]), int(tree.first_arrival[child]))
            heapq.heappush(queue, (*rank, child, level))

    if max_levels > 0:
        offer(0, 1)
    while queue and taken < max_nodes:
        *_, vertex, level = heapq.heappop(queue)
        listed[int(tree.parent[vertex])].append(vertex)
        taken, deepest = taken + 1, max(deepest, level)
        if vertex < tree.num_nodes:
            listed[vertex] = []
            if level < max_levels:
                offer(vertex, level + 1)
    return listed, deepest


class _Writer:
    """Writes listed vertices in preorder, siblings by average bid."""

    def __init__(
        self, tree: RadixTree, size: IntArray, bid: FloatArray, value: FloatArray, listed: dict[int, list[int]]
    ) -> None:
        self.tree, self.size, self.bid, self.value, self.listed = tree, size, bid, value, listed
        self.nodes: list[dict[str, Any]] = []
        self.vertices: list[int] = []

    def visit(self, vertex: int, parent: int | None) -> None:
        """Write a vertex and what is listed below it; the depth is at most `max_levels`."""
        is_node = vertex < self.tree.num_nodes
        children = self._children(vertex) if is_node else np.empty(0, dtype=np.int64)
        depth = int(self.tree.depth_tokens[vertex]) if is_node else None
        identity = self._write(parent, depth, len(children), np.array([vertex]), merged=0)
        self.vertices.append(vertex)
        below = self.listed.get(vertex, [])
        for child in sorted(below, key=lambda child: (-self.bid[child], self.tree.first_arrival[child])):
            self.visit(child, identity)
        rest = children[~np.isin(children, below)]
        if below and len(rest):
            self._write(identity, depth, 0, rest, merged=len(rest))

    def _children(self, node: int) -> IntArray:
        return self.tree.children[self.tree.indptr[node] : self.tree.indptr[node + 1]]

    def _write(self, parent: int | None, depth: int | None, children: int, vertices: IntArray, *, merged: int) -> int:
        """One node for one vertex, or for several siblings together."""
        size = self.size[vertices]
        requests = int(size.sum())
        self.nodes.append(
            {
                "id": len(self.nodes),
                "parent": parent,
                "depth_tokens": depth,
                "requests": requests,
                "children": children,
                "average_bid": float((self.bid[vertices] * size).sum() / requests),
                "average_value": float((self.value[vertices] * size).sum() / requests),
                "merged": merged,
            }
        )
        return len(self.nodes) - 1

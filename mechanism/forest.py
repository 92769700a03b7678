"""Many auctions at once: their trees side by side under one root, so that one pass schedules all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanism.dfs import averages, by_average, dfs_order, weight_totals
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree, assemble

__all__ = ["Forest"]


@dataclass(frozen=True, slots=True)
class Forest:
    """T auctions with N requests in all, numbered auction after auction.

    Attributes
    ----------
    tree : one tree; the children of its root are the auctions' roots, so a depth-first order keeps every auction
        together and serves it as the auction alone would.
    auction : (N,) which auction each request is in.
    begin, size : (T,) first request and number of requests of each auction.
    """

    tree: RadixTree
    auction: IntArray
    begin: IntArray
    size: IntArray

    @classmethod
    def of(cls, trees: Sequence[RadixTree]) -> Forest:
        """The forest of these auctions' trees; each has at least one request. O(V + N)."""
        size = np.array([tree.num_leaves for tree in trees], dtype=np.int64)
        begin = np.cumsum(size) - size
        nodes = np.array([tree.num_nodes for tree in trees], dtype=np.int64)
        first_node = 1 + np.cumsum(nodes) - nodes
        none, total = np.zeros(1, np.int64), np.array([size.sum()])
        places = list(zip(trees, begin.tolist(), first_node.tolist(), strict=True))
        above = [np.concatenate((none, tree.parent[1 : tree.num_nodes] + at)) for tree, _, at in places]
        leaf_above = [tree.parent[tree.num_nodes :] + at for tree, _, at in places]
        joined = assemble(
            np.concatenate([tree.leaves + offset for tree, offset, _ in places]),
            np.concatenate([none, *(tree.start + offset for tree, offset, _ in places)]),
            np.concatenate([total, *(tree.stop + offset for tree, offset, _ in places)]),
            np.concatenate([none, *(tree.depth_tokens for tree in trees)]),
            np.concatenate([none, *above, *leaf_above]),
        )
        return cls(joined, np.repeat(np.arange(len(trees)), size), begin, size)

    def priority(self, bids: FloatArray) -> FloatArray:
        """(N,) x_r of every request when each auction is served by average bid (Algorithm 1). O(M + N log N)."""
        average = averages(self.tree, weight_totals(self.tree, bids))
        order = dfs_order(self.tree, by_average(self.tree, average))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = np.minimum.reduceat(place, self.begin)[self.auction]
        others = self.size[self.auction] - 1
        behind = others - (place - first)
        return np.where(others > 0, behind / np.maximum(others, 1), 1.0)

    def sums(self, per_request: FloatArray) -> FloatArray:
        """(T,) Σ over the requests of each auction."""
        totals: FloatArray = np.add.reduceat(per_request, self.begin)
        return totals

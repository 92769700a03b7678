"""Longest prefix match, one request after another: the greedy order that lpm and k-lpm share."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from mechanism.model import Auction
from mechanism.prompts import IntArray

__all__ = ["longest_prefix_order"]


def longest_prefix_order(auction: Auction, oldest_every: int | None) -> IntArray:
    """(n,) request indices: always the request that shares the longest prefix with what is resident or ordered before.

    A request's match is the greatest of its `resident_tokens` and of its common prefixes with requests already in the
    order (so with a cache that keeps them); ties by arrival. With `oldest_every` = k the first of every k picks is the
    oldest request left instead. O(n log n), a Python loop over requests.
    """
    matches = _Matches(auction)
    order = np.empty(len(auction), dtype=np.int64)
    for place in range(len(order)):
        by_age = oldest_every is not None and place % oldest_every == 0
        order[place] = matches.serve_oldest() if by_age else matches.serve_longest()
    return order


class _Matches:
    """Which requests are left, and how much of each would be found in the cache.

    A vertex is *passed* once a request below it is served. Every request below an unpassed child of a passed node
    matches exactly that node's depth; the node's candidate is the earliest of them. So each passed node has one offer
    in the heap at a time, and residency adds one for each request.
    """

    def __init__(self, auction: Auction) -> None:
        tree = auction.tree
        self._num_nodes = tree.num_nodes
        place = np.empty(tree.num_leaves, dtype=np.int64)
        place[tree.leaves] = np.arange(tree.num_leaves)
        self._leaf = (tree.num_nodes + place).tolist()  # the vertex of each request
        self._parent, self._depth = tree.parent.tolist(), tree.depth_tokens.tolist()
        self._children, self._indptr = tree.children.tolist(), tree.indptr.tolist()
        self._earliest = tree.first_arrival.tolist()
        self._next = self._indptr[:-1].copy()  # the first child that may be unpassed; families are by first arrival
        self._passed = [False] * (tree.num_nodes + len(auction))
        self._oldest = 0
        self._offers: list[tuple[int, int, int]] = []  # −match, request, node that offers it or −1 for residency
        if auction.resident_tokens is not None:
            self._offers = [(-tokens, request, -1) for request, tokens in enumerate(auction.resident_tokens.tolist())]
            heapify(self._offers)
        self._passed[0] = True
        self._offer(0)

    def serve_oldest(self) -> int:
        """The earliest request left."""
        while self._passed[self._leaf[self._oldest]]:
            self._oldest += 1
        self._serve(self._oldest)
        return self._oldest

    def serve_longest(self) -> int:
        """The request left with the longest match."""
        while True:
            _, request, node = heappop(self._offers)
            if node < 0 and self._passed[self._leaf[request]]:
                continue
            if node >= 0 and self._passed[self._children[self._next[node]]]:
                self._offer(node)
                continue
            self._serve(request)
            if node >= 0:
                self._offer(node)
            return request

    def _offer(self, node: int) -> None:
        at, end = self._next[node], self._indptr[node + 1]
        while at < end and self._passed[self._children[at]]:
            at += 1
        self._next[node] = at
        if at < end:
            heappush(self._offers, (-self._depth[node], self._earliest[self._children[at]], node))

    def _serve(self, request: int) -> None:
        vertex = self._leaf[request]
        while not self._passed[vertex]:
            self._passed[vertex] = True
            if vertex < self._num_nodes:
                self._offer(vertex)
            vertex = self._parent[vertex]

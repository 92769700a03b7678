"""Which unlocked leaf of the KV cache goes first: eviction policies and the queue that applies one."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim.errors import ScenarioError, did_you_mean

if TYPE_CHECKING:
    from sim.kv_cache import Node

__all__ = ["POLICIES", "Policy", "Victims"]

#: A policy ranks a node; the smallest rank goes first. Stamps are a logical clock, larger is later.
Policy = Callable[["Node"], Any]

POLICIES: dict[str, Policy] = {
    "lru": lambda node: node.touched,
    "mru": lambda node: -node.touched,
    "fifo": lambda node: node.created,
    "filo": lambda node: -node.created,
    "lfu": lambda node: (node.hits, node.touched),
    "slru": lambda node: (node.hits >= 2, node.touched),
    "priority": lambda node: (node.priority, node.touched),
}


class Victims:
    """The leaves that may be evicted, in the policy's order.

    A heap with lazy repair: ranks only grow while a node is queued (`mru` is the exception, see `retouched`), so an
    entry that is too early is put back when it surfaces. O(log n) amortised a leaf.
    """

    def __init__(self, policy: str) -> None:
        if policy not in POLICIES:
            known = ", ".join(sorted(POLICIES))
            raise ScenarioError("backend.eviction", f'"{policy}"', f"one of {known}", did_you_mean(policy, POLICIES))
        self.rank = POLICIES[policy]
        self.falling = policy == "mru"
        self._heap: list[tuple[Any, int, Node]] = []

    def offer(self, node: Node) -> None:
        """`node` has just become an unlocked leaf."""
        if not node.queued or self.falling:
            node.queued = True
            heapq.heappush(self._heap, (self.rank(node), node.serial, node))

    def retouched(self, node: Node) -> None:
        """`node` was used: under `mru` its rank fell, which a lazy heap must be told."""
        if self.falling and node.locks == 0 and not node.children:
            heapq.heappush(self._heap, (self.rank(node), node.serial, node))

    def pop(self) -> Node | None:
        """Remove and return the first leaf that is still one, None when there is none."""
        heap = self._heap
        while heap:
            queued_at, serial, node = heap[0]
            if not node.alive or node.locks or node.children:
                heapq.heappop(heap)
                node.queued = False
                continue
            rank = self.rank(node)
            if rank == queued_at:
                heapq.heappop(heap)
                node.queued = False
                return node
            if self.falling:
                heapq.heappop(heap)
            else:
                heapq.heapreplace(heap, (rank, serial, node))
        return None

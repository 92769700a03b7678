"""Where average-bid DFS loses welfare, exactly: pairs of siblings served in the wrong order.

Two siblings are *inverted* when the one of lower average value is served first: j overtakes i. The pair then brings
F_v(j)·N(i) instead of F_v(i)·N(j), and the sum of these differences over all inverted pairs is the whole loss: Φ of the
best DFS order minus Φ of A(b) (MATH.md: each ordered pair of requests is counted at its lowest common ancestor).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanism.bounds import Numbers, check_weights
from mechanism.dfs import averages, by_average, weight_totals
from mechanism.dominance import sums_over_smaller
from mechanism.prompts import IntArray
from mechanism.radix_tree import RadixTree

__all__ = ["Inversion", "Siblings", "largest_inversions", "losses_by_overtaken"]


@dataclass(frozen=True, slots=True)
class Siblings:
    """One slot per non-root vertex: family after family, each by average *value* descending.

    Siblings of equal average value stand as they are served: which of them goes first costs nothing, so they are no
    inversion.

    Attributes
    ----------
    vertex : (S,) the vertex in each slot.
    sizes : (V,) slots of each node's family, in preorder.
    count : (S,) N, requests below.
    bid, value : (S,) F_b and F_v.
    average_value : (S,) F_v/N, descending inside a family.
    served : (S,) rank in A(b); comparable inside a family.
    """

    vertex: IntArray
    sizes: IntArray
    count: IntArray
    bid: Numbers
    value: Numbers
    average_value: Numbers
    served: IntArray

    @classmethod
    def of(cls, tree: RadixTree, bids: Numbers, values: Numbers) -> Siblings:
        """Lay out a batch. O(M + n log n).

        Raises
        ------
        MechanismError
            As `mechanism.bounds.welfare_bound`.
        """
        check_weights(tree, bids, values)
        total_bid, total_value = weight_totals(tree, bids), weight_totals(tree, values)
        in_service = by_average(tree, averages(tree, total_bid))
        served = np.zeros(len(tree.parent), dtype=np.int64)
        served[in_service] = np.arange(len(in_service))
        average_value = averages(tree, total_value)
        by_value = in_service[np.argsort(-average_value[in_service], kind="stable")]
        vertex = by_value[np.argsort(tree.parent[by_value], kind="stable")]
        return cls(
            vertex,
            np.diff(tree.indptr),
            tree.num_requests[vertex],
            total_bid[vertex],
            total_value[vertex],
            average_value[vertex],
            served[vertex],
        )

    def per_node(self, per_slot: Numbers) -> Numbers:
        """(V,) Σ over the children of every node."""
        sums = np.zeros(len(self.sizes), dtype=per_slot.dtype)
        parents = np.flatnonzero(self.sizes)
        if len(parents):
            start = np.cumsum(self.sizes) - self.sizes
            sums[parents] = np.add.reduceat(per_slot, start[parents])
        return sums


@dataclass(frozen=True, slots=True)
class Inversion:
    """One inverted pair of siblings: `ahead` is served before `behind` though worth less; `lost` in units of Φ."""

    ahead: int
    behind: int
    lost: float


def losses_by_overtaken(siblings: Siblings) -> tuple[Numbers, IntArray]:
    """(S,) what each slot loses by being overtaken, in units of Φ ≥ 0, and (S,) by how many siblings it is overtaken.

    Σ over the siblings j of less average value served before i of F_v(i)·N(j) − F_v(j)·N(i). Both sums over j come from
    one pass of `sums_over_smaller` from the last slot to the first. O(S log ν).
    """
    back = slice(None, None, -1)
    overtaking_value, overtaking_count, number = (
        sums[back]
        for sums in sums_over_smaller(
            siblings.served[back],
            siblings.sizes[back],
            siblings.value[back],
            siblings.count[back],
            np.ones(len(siblings.count), dtype=np.int64),
        )
    )
    lost = siblings.value * overtaking_count - overtaking_value * siblings.count
    return np.maximum(lost, 0), number


def largest_inversions(siblings: Siblings, lost: Numbers, limit: int = 10, children: int = 64) -> list[Inversion]:
    """The costliest inverted pairs among those of the `children` slots that lose most, the costliest first.

    Parameters
    ----------
    lost : (S,) from `losses_by_overtaken`.
    limit : pairs returned at most.

    With at most `children` overtaken slots in all, these are the costliest pairs of the batch; looking at every pair
    would be quadratic. O(children · ν).
    """
    order = np.argsort(-lost, kind="stable")[:children]
    ends = np.repeat(np.cumsum(siblings.sizes), siblings.sizes)
    found: list[Inversion] = []
    for slot in order[lost[order] > 0].tolist():
        others = np.arange(slot + 1, int(ends[slot]))
        others = others[siblings.served[others] < siblings.served[slot]]
        costs = siblings.value[slot] * siblings.count[others] - siblings.value[others] * int(siblings.count[slot])
        best = np.argsort(-costs, kind="stable")[:limit]
        ahead = siblings.vertex[others[best]].tolist()
        behind = int(siblings.vertex[slot])
        found += [Inversion(j, behind, float(cost)) for j, cost in zip(ahead, costs[best], strict=True)]
    found.sort(key=lambda pair: -pair.lost)
    return found[:limit]

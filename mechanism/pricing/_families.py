"""Every node's children in schedule order, laid out for the payment formulas (MATH.md, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.dfs import averages, families_in, weight_totals
from mechanism.errors import MechanismError
from mechanism.model import Auction
from mechanism.prompts import IntArray
from mechanism.ranges import suffix_sums_after

__all__ = ["Families"]

Money = npt.NDArray[Any]  # float64, or object holding Fractions

_SLACK = 1e-12  # relative; averages that differ by less are equal but for rounding


@dataclass(frozen=True, slots=True)
class Families:
    """One *slot* per non-root vertex: family after family (a node's children), each in the order of the schedule.

    Attributes
    ----------
    vertex : (S,) the vertex in each slot.
    family : (S,) node whose child it is; nondecreasing.
    end : (S,) first slot behind the family.
    begin : (S,) position in the schedule of its first request; its requests are [begin, begin + count).
    count : (S,) N, requests below.
    total : (S,) F, bids below.
    average : (S,) F/N.
    num_bidders : (S,) requests below with a positive bid.
    total_after : (S,) Σ F over the younger siblings.
    descending, code : all averages negated and sorted; (family, number of greater averages) as one integer.
    """

    vertex: IntArray
    family: IntArray
    end: IntArray
    begin: IntArray
    count: IntArray
    total: Money
    average: Money
    num_bidders: IntArray
    total_after: Money
    descending: Money
    code: IntArray

    @classmethod
    def of(cls, auction: Auction, order: IntArray) -> Families:
        """Lay out an auction served in `order`.

        Raises
        ------
        MechanismError
            `order` is not a depth-first schedule of the tree, or not one of greatest declared welfare.
        """
        tree, bids = auction.tree, auction.bids
        vertex = families_in(tree, order)
        if vertex is None:
            raise MechanismError("VCG: the order is no depth-first schedule of the auction's tree")
        totals = weight_totals(tree, bids)
        average = averages(tree, totals)[vertex]
        total = (totals if totals.dtype == object else totals.astype(np.float64))[vertex]
        family = tree.parent[vertex]
        _check_descending(average, family)
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        end = np.repeat(tree.indptr[1:], np.diff(tree.indptr))
        descending = np.sort(-average)
        rank = np.searchsorted(descending, -average)
        code = np.maximum.accumulate(family * (len(vertex) + 1) + rank)
        return cls(
            vertex=vertex,
            family=family,
            end=end,
            begin=tree.least(position)[vertex],
            count=tree.num_requests[vertex],
            total=total,
            average=average,
            num_bidders=tree.totals((bids > 0).astype(np.int64))[vertex],
            total_after=suffix_sums_after(total, end),
            descending=descending,
            code=code,
        )

    def last_above(self, slot: IntArray, average: Money) -> IntArray:
        """The last slot at or behind `slot` in its family whose average is strictly above `average`; `slot` if none.

        Averages fall along a family, so this is a binary search; on ranks, to search all families at once.
        """
        exceeding = np.searchsorted(self.descending, -average)
        behind = np.searchsorted(self.code, self.family[slot] * (len(self.vertex) + 1) + exceeding)
        return np.maximum(behind - 1, slot)

    def between(self, slot: IntArray, last: IntArray) -> tuple[Money, IntArray]:
        """Σ F and Σ N over the slots behind `slot` up to `last`, both in one family."""
        total = self.total_after[slot] - self.total_after[last]
        count = self.begin[last] + self.count[last] - self.begin[slot] - self.count[slot]
        return total, count


def _check_descending(average: Money, family: IntArray) -> None:
    rises = (average[1:] > average[:-1]) & (family[1:] == family[:-1])
    if average.dtype != object:
        rises &= average[1:] > average[:-1] * (1 + _SLACK)
    if rises.any():
        raise MechanismError(
            "VCG: the order does not maximise declared welfare: a subtree is served before one of a higher average bid"
        )

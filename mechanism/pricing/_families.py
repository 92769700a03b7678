"""Every node's children in schedule order, laid out for the payment formulas (MATH.md, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanism.dfs import averages, families_in, weight_totals
from mechanism.errors import MechanismError
from mechanism.model import Auction
from mechanism.pricing._money import Money
from mechanism.prompts import IntArray
from mechanism.ranges import suffix_sums_after

__all__ = ["Families"]

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
    total_after : (S,) Σ F over the younger siblings, those served later.
    """

    vertex: IntArray
    family: IntArray
    end: IntArray
    begin: IntArray
    count: IntArray
    total: Money
    average: Money
    total_after: Money

    @classmethod
    def of(cls, auction: Auction, order: IntArray) -> Families:
        """Lay out an auction served in `order`.

        Raises
        ------
        MechanismError
            `order` is not a depth-first schedule of the tree, or not one of greatest declared welfare.
        """
        tree = auction.tree
        found = families_in(tree, order)
        if found is None:
            raise MechanismError("VCG: the order is no depth-first schedule of the auction's tree")
        vertex, begin = found
        totals = weight_totals(tree, auction.bids)
        average = averages(tree, totals)[vertex]
        total = (totals if totals.dtype == object else totals.astype(np.float64))[vertex]
        family = tree.family
        _check_descending(average, family)
        end = tree.indptr[1:][family]
        count = tree.num_requests[vertex]
        return cls(vertex, family, end, begin, count, total, average, suffix_sums_after(total, end))

    def last_above(self, slot: IntArray, average: Money) -> IntArray:
        """The last slot at or behind `slot` in its family whose average is strictly above `average`; `slot` if none.

        Averages fall along a family: binary search, halving steps, all queries at once.
        """
        last, end = slot.copy(), self.end[slot]
        step = 1 << int((end - slot).max(initial=0)).bit_length()
        while step := step >> 1:
            ahead = last + step
            above = self.average.take(ahead, mode="clip") > average
            last += (above & (ahead < end)) * step
        return last

    def between(self, slot: IntArray, last: IntArray) -> tuple[Money, IntArray]:
        """Σ F and Σ N over the slots behind `slot` up to `last`, both in one family."""
        total = self.total_after[slot] - self.total_after[last]
        count = self.begin[last] + self.count[last] - self.begin[slot] - self.count[slot]
        return total, count


def _check_descending(average: Money, family: IntArray) -> None:
    rises = (average[1:] > average[:-1]) & (family[1:] == family[:-1])
    if average.dtype != object and rises.any():
        rises &= average[1:] > average[:-1] * (1 + _SLACK)
    if rises.any():
        raise MechanismError(
            "VCG: the order does not maximise declared welfare: a subtree is served before one of a higher average bid"
        )

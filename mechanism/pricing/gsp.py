"""Generalised second price on the prompt tree: a subtree pays the next subtree's average bid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.pricing._families import Families
from mechanism.prompts import FloatArray, IntArray
from mechanism.welfare import requests_after

__all__ = ["Gsp"]


@dataclass(frozen=True, slots=True)
class Gsp:
    """Each subtree pays, for every request it is served ahead of, the average bid of the sibling served right after it.

    The rule of search advertising (Edelman, Ostrovsky and Schwarz 2007; Varian 2007) carried over to siblings of the
    tree; on a star (bid-sort) it is that rule: the request at place j pays the bid at place j + 1 for its priority. A
    subtree's charge is split over its requests in proportion to their bids. Individually rational, not truthful.
    """

    truthful: ClassVar[bool] = False
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:
        """Only where siblings are served by average bid."""
        return schedule.domain is not None

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        """(num_users,) payments.

        At a node u whose child c is served ahead of S_c requests of u's and followed by c', the requests below c pay
        N(c)·S_c·F(c')/N(c') / (n−1) together, so request r below it b_r·S_c·[F(c')/N(c')] / [F(c)/N(c)] / (n−1); r
        pays the sum over its ancestors. Each term is at most b_r·S_c/(n−1), and these sum to b_r·x_r. O(M + n log n).

        Raises
        ------
        MechanismError
            `order` does not maximise declared welfare over the depth-first schedules of `auction.tree`.
        """
        payments = np.zeros(auction.num_users)
        n = len(order)
        if n <= 1:
            return payments
        families = Families.of(auction, order)
        slots = np.arange(len(families.vertex))
        following = np.minimum(slots + 1, families.end - 1)  # the youngest sibling follows itself and displaces nobody
        stop = families.begin + families.count
        displaced = stop[families.end - 1] - stop
        own = families.average
        ratio = np.divide(own[following], own, out=np.zeros(len(own)), where=own > 0)
        steps = np.zeros(n + 1, dtype=np.longdouble)  # a slot's term holds for the range of places it covers
        np.add.at(steps, families.begin, ratio * displaced)
        np.subtract.at(steps, stop, ratio * displaced)
        weight = np.empty(n)
        weight[order] = np.cumsum(steps)[:n]
        charged = auction.bids * np.clip(weight, 0, requests_after(order)) / (n - 1)
        np.add.at(payments, auction.users, charged)
        return payments

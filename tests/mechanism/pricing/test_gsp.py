"""GSP by hand and against the sum over ancestors written out."""

from fractions import Fraction

import numpy as np
import oracles
import pytest
from auction_kit import auction_of, seeded_case

from mechanism.clearing import clear
from mechanism.errors import MechanismError
from mechanism.pricing.gsp import Gsp
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.no_sort import NoSort


def test_on_a_star_everyone_pays_the_next_bid_for_his_priority() -> None:
    # Places 0, 1, 2 with priorities 1, ½, 0: 4·1, 3·½, nothing.
    outcome = clear(auction_of([[1], [2], [3]], [3.0, 8.0, 4.0]), BidSort(), Gsp())
    assert outcome.payments.tolist() == pytest.approx([0.0, 4.0, 1.5])


def naive(tree: oracles.Nested, bids: list[Fraction], n: int) -> list[Fraction]:
    """Σ over ancestors of b_r·S·(next sibling's average)/(own average), for each request."""
    charges = [Fraction(0)] * len(bids)

    def average(child: oracles.Nested) -> Fraction:
        below = oracles.leaves(child)
        return sum((bids[leaf] for leaf in below), Fraction(0)) / len(below)

    def walk(node: oracles.Nested) -> None:
        if isinstance(node, int):
            return
        children = [child for child in node if oracles.leaves(child)]
        children.sort(key=lambda child: (-average(child), min(oracles.leaves(child))))
        for place, child in enumerate(children[:-1]):
            behind = sum(len(oracles.leaves(sibling)) for sibling in children[place + 1 :])
            if average(child) > 0:
                for leaf in oracles.leaves(child):
                    charges[leaf] += bids[leaf] * behind * average(children[place + 1]) / average(child) / (n - 1)
        for child in children:
            walk(child)

    walk(tree)
    return charges


def test_equals_the_sum_over_ancestors() -> None:
    for seed in range(300):
        case = seeded_case(seed)
        n = len(case.rows)
        bids = [6 * bid for bid in case.bids]  # whole numbers: equal averages are equal as floats
        auction = auction_of(case.rows, [float(bid) for bid in bids], case.users, case.num_users)
        charges = naive(case.trie, bids, n) if n > 1 else [Fraction(0)] * n
        expected = [
            float(sum(c for c, u in zip(charges, case.users, strict=True) if u == user))
            for user in range(case.num_users)
        ]
        assert clear(auction, DfsBid(), Gsp()).payments == pytest.approx(np.array(expected), abs=1e-12)


def test_needs_siblings_by_average_bid() -> None:
    assert not Gsp().defined_for(NoSort())
    with pytest.raises(MechanismError):
        Gsp().charge(auction_of([[1], [2]], [1.0, 2.0]), np.array([0, 1]))

"""A tighter bound than κ, and not the paper's: ours. Each pair of siblings is held to its own two multipliers.

Theorem 4.4 lets the two most different multipliers of a family stand for all its pairs. But a pair can only be served
in the wrong order when the sibling *worth less* is the one with the *higher* multiplier, and then no worse than the
ratio of these two multipliers says.

**Pair bound.** Let i, j be children of u with F_v(i)/N(i) ≥ F_v(j)/N(j), so that i should go first, and let

    s(i, j) = min(1, α(i)/α(j)),     α(c) = F_b(c)/F_v(c),

with s = 0 when i has value but no bid (F_b(i) = 0 < F_v(i)) or j has a bid but no value, s = 1 when j bids nothing
while F_b(i) > 0, and s = 1 when the two averages are equal. Then, over all pairs of siblings of the tree,

    W(A(b); v) / max over DFS orders of W(·; v)  ≥  Σ s(i, j)·F_v(i)·N(j) / Σ F_v(i)·N(j)  ≥  Σ Ω_u/κ_u / Σ Ω_u.

*Proof.* Both welfares are sums over the same pairs: the best order has F_v(i)·N(j) from each, A(b) the same if it
serves i before j, else F_v(j)·N(i), which is as much where the averages are equal. So it is enough to look at one pair
of which A(b) serves j first though F_v(i)/N(i) > F_v(j)/N(j). Algorithm 1 then says F_b(j)/N(j) ≥ F_b(i)/N(i).
(1) F_v(i), F_v(j), F_b(i), F_b(j) > 0: with F_b = α·F_v this reads F_v(j)·N(i) ≥ α(i)/α(j)·F_v(i)·N(j), and also
F_v(j)·N(i) ≤ F_v(i)·N(j), hence α(i) ≤ α(j) and s = α(i)/α(j): the pair keeps the share s.
(2) F_b(i) = 0: s = 0, and nothing is claimed.
(3) F_b(i) > 0 = F_b(j): A(b) would have served i first; the case does not occur, and s = 1 is right.
(4) F_v(i), F_b(i), F_b(j) > 0 = F_v(j): s = 0, and nothing is claimed.
(F_v(i) > 0 throughout, for i is worth more than j.)
The second inequality holds pair by pair: where κ_u is infinite it claims 0; where it is finite no child has a bid
without value or value without a bid, so s(i, j) is 1 or α(i)/α(j) with both in [min α, max α], hence at least 1/κ_u. ∎
"""

from __future__ import annotations

import numpy as np

from mechanism.bounds import Numbers
from mechanism.dominance import sums_over_smaller
from mechanism.inversions import Siblings
from mechanism.prompts import IntArray
from mechanism.ranges import changes, runs

__all__ = ["allowed_by_pairs"]


def allowed_by_pairs(siblings: Siblings) -> Numbers:
    """(V,) the loss the pair bound allows at every node, Σ (1 − s(i, j))·F_v(i)·N(j), in units of Φ.

    The pair bound is 1 − Σ of these / ΣΩ. At each node it lies between the exact loss and Ω_u·(1 − 1/κ_u).
    O(S log ν).

    >>> from mechanism.radix_tree import star_tree
    >>> bids, values = np.array([4.0, 1.0, 1.0]), np.array([4.0, 2.0, 1.0])  # α = 1, ½, 1; Ω = 10, κ = 2
    >>> float(allowed_by_pairs(Siblings.of(star_tree(3), bids, values)).sum())  # ½·2·1 from the last pair, not ½·10
    1.0
    """
    bid, value, sizes = siblings.bid, siblings.value, siblings.sizes
    kept = np.where(bid > 0, value, value * 0)  # an i that bids nothing is granted nothing, see below
    per_count, per_multiplier = sums_over_smaller(_multiplier_rank(bid, value), sizes, kept, bid)
    inverse_multiplier = np.divide(value, bid, out=value * 0, where=(bid > 0) & (value > 0))
    allowed = np.maximum(siblings.count * (per_count - inverse_multiplier * per_multiplier), 0)
    allowed = allowed + (value - kept) * _worth_less(siblings)
    return siblings.per_node(allowed)


def _worth_less(siblings: Siblings) -> IntArray:
    """(S,) requests below the siblings of strictly lower average value."""
    sizes = siblings.sizes
    family = np.repeat(np.arange(len(sizes)), sizes)
    begin, end = runs(changes(family, siblings.average_value))
    last_equal = np.repeat(end, end - begin) - 1
    last = np.repeat(np.cumsum(sizes), sizes) - 1
    counted = np.cumsum(siblings.count)
    less: IntArray = counted[last] - counted[last_equal]
    return less


def _multiplier_rank(bid: Numbers, value: Numbers) -> IntArray:
    """(S,) integers ordered as α: none for what bids nothing, highest for a bid without value."""
    rank = np.zeros(len(bid), dtype=np.int64)
    both = np.flatnonzero((bid > 0) & (value > 0))
    rank[both] = np.unique(bid[both] / value[both], return_inverse=True)[1] + 1
    rank[(bid > 0) & (value == 0)] = len(bid) + 1
    return rank

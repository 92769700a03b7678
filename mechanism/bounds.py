"""The κ bound: what is left of the best welfare when siblings are paced unevenly [paper Theorem 4.4; MATH.md].

F_b, F_v, N sum bids, values and requests below a vertex, α(c) = F_b(c)/F_v(c) is a child's *multiplier*.
κ_u = max α / min α over the children of u with value, Ω_u = Σ_{j<k} F_v(c_j)·N(c_k) over its children by average value.
With A(b) the average-bid DFS,

    W(A(b); v) / max over DFS orders of W(·; v)  ≥  Σ Ω_u/κ_u / Σ Ω_u  ≥  1 / max κ_u.

The theorem's premise b = α·v breaks at a child with value and no bid, and at one with a bid and no value. Such a node
counts as κ = ∞; then the bound holds on every instance. It is *excluded*: the bound grants it nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanism.dfs import averages, by_average, weight_totals
from mechanism.errors import MechanismError
from mechanism.prompts import IntArray
from mechanism.radix_tree import RadixTree
from mechanism.ranges import changes

__all__ = ["WelfareBound", "check_weights", "phi_per_node", "welfare_bound"]

Numbers = npt.NDArray[Any]  # float64, or object holding Fractions

_ROUNDING = 1e-12  # relative; a bound above the ratio by less than this is a double's last digits
_LEAST_SHARE = 1 / float(np.finfo(np.float64).max)  # a κ beyond this has no double


@dataclass(frozen=True, slots=True)
class WelfareBound:
    """Theorem 4.4 on one batch: K nodes with two or more children, in preorder.

    Attributes
    ----------
    node : (K,) nodes of the tree.
    omega : (K,) Ω_u, in units of Φ.
    lost : (K,) Ω_u minus what average-bid DFS makes of it, ≥ 0: the exact loss, in units of Φ.
    inverse_kappa : (K,) 1/κ_u in [0, 1]; 0 where κ_u is infinite.
    value_without_bid : (K,) children with F_v > 0 and F_b = 0.
    bid_without_value : (K,) children with F_v = 0 and F_b > 0.
    """

    node: IntArray
    omega: Numbers
    lost: Numbers
    inverse_kappa: Numbers
    value_without_bid: IntArray
    bid_without_value: IntArray

    @property
    def total(self) -> Any:
        """Σ Ω_u = Φ of the best DFS order = (n − 1) times its welfare."""
        return _number(self.omega.sum())

    @property
    def ratio(self) -> Any:
        """W(A(b); v) / max over DFS orders of W(·; v); 1 where no order is worth anything."""
        return _number((self.total - self.lost.sum()) / self.total) if self.total > 0 else 1.0

    @property
    def bound(self) -> Any:
        """Σ Ω_u/κ_u / Σ Ω_u, at most `ratio`; 1 where ΣΩ = 0."""
        if not self.total > 0:
            return 1.0
        bound = _number((self.omega * self.inverse_kappa).sum() / self.total)
        rounding = self.omega.dtype != object and self.ratio < bound <= self.ratio * (1 + _ROUNDING)
        return self.ratio if rounding else bound

    @property
    def simple_bound(self) -> Any:
        """1/max κ_u, the last and weakest part of the theorem; 0 where some κ_u is infinite."""
        return _number(self.inverse_kappa.min()) if len(self.node) else 1.0

    @property
    def kappa(self) -> Numbers:
        """(K,) κ_u, `math.inf` where infinite."""
        known = self.inverse_kappa > 0
        kappa = np.full(len(known), math.inf, dtype=self.inverse_kappa.dtype)
        kappa[known] = 1 / self.inverse_kappa[known]
        return kappa

    @property
    def allowed(self) -> Numbers:
        """(K,) Ω_u·(1 − 1/κ_u): the loss the bound allows at each node, in units of Φ."""
        allowed: Numbers = self.omega * (1 - self.inverse_kappa)
        return allowed


def welfare_bound(tree: RadixTree, bids: Numbers, values: Numbers) -> WelfareBound:
    """κ_u, Ω_u and the loss of average-bid DFS at every node with two or more children.

    Parameters
    ----------
    bids, values : (n,) ≥ 0, in money; `object` arrays of `Fraction` are computed exactly.

    Raises
    ------
    MechanismError
        Bids or values that are negative or not finite, of the wrong shape, or whose sums overflow.

    O(M + n log n), M = Σ_u N(u); no Python loop over nodes.

    >>> from mechanism.radix_tree import star_tree
    >>> found = welfare_bound(star_tree(2), np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    >>> found.bound, found.ratio, found.kappa.tolist()
    (0.5, 0.5, [2.0])
    >>> welfare_bound(star_tree(2), np.zeros(2), np.array([1.0, 0.0])).bound  # served well, by luck of the tie
    0.0
    """
    check_weights(tree, bids, values)
    total_bid, total_value = weight_totals(tree, bids), weight_totals(tree, values)
    node = np.flatnonzero(np.diff(tree.indptr) > 1)
    if not len(node):
        none = np.zeros(0, dtype=bids.dtype)
        return WelfareBound(node, none, none, none, node, node)
    omega = phi_per_node(tree, total_value, by_average(tree, averages(tree, total_value)))[node]
    served = phi_per_node(tree, total_value, by_average(tree, averages(tree, total_bid)))[node]
    bid, value, parent = total_bid[tree.children], total_value[tree.children], tree.parent[tree.children]
    value_only = np.bincount(parent[(value > 0) & (bid == 0)], minlength=tree.num_nodes)[node]
    bid_only = np.bincount(parent[(value == 0) & (bid > 0)], minlength=tree.num_nodes)[node]
    share = _least_share(tree, bid, value, parent)[node]
    share[(value_only > 0) | (bid_only > 0) | (share < _LEAST_SHARE)] = 0
    lost = np.maximum(omega - served, 0)  # siblings of equal averages may be added up in another order
    return WelfareBound(node, _plain(omega), _plain(lost), _plain(share), value_only, bid_only)


def check_weights(tree: RadixTree, *weights: Numbers) -> None:
    """Refuse bids or values that no welfare can be computed from."""
    n = tree.num_leaves
    most = float(np.finfo(np.float64).max) / max(n, 1) ** 2  # no Φ overflows
    for each in weights:
        if each.shape != (n,):
            raise MechanismError(f"welfare bound: {each.shape} bids or values for a tree of {n} requests")
        if not np.all((each >= 0) & (each <= most)):
            raise MechanismError("welfare bound: bids and values must be finite, at least 0, and so must their sums")


def phi_per_node(tree: RadixTree, total: Numbers, children: IntArray) -> Numbers:
    """(V,) Σ_{j<k} F(c_j)·N(c_k) over the children of every node, which `children` lists in their order of service."""
    served = np.cumsum(tree.num_requests[children])
    after = np.repeat(served[tree.indptr[1:] - 1], np.diff(tree.indptr)) - served
    sums: Numbers = np.add.reduceat(total[children] * after, tree.indptr[:-1])
    return sums


def _least_share(tree: RadixTree, bid: Numbers, value: Numbers, parent: IntArray) -> Numbers:
    """(V,) min α / max α over the children with both bid and value; 1 where there are none."""
    both = (bid > 0) & (value > 0)
    alpha, parent = bid[both] / value[both], parent[both]
    share = np.ones(tree.num_nodes, dtype=alpha.dtype)
    begin = np.flatnonzero(changes(parent))
    if len(begin):
        share[parent[begin]] = np.minimum.reduceat(alpha, begin) / np.maximum.reduceat(alpha, begin)
    return share


def _plain(numbers: Numbers) -> Numbers:
    return numbers if numbers.dtype == object else numbers.astype(np.float64)


def _number(found: Any) -> Any:
    """A Python float, or a Fraction as it is."""
    return float(found) if isinstance(found, np.floating) else found

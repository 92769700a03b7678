"""The nodes of a prompt tree that matter to the κ bound, few enough for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechanism.prompts import IntArray
from sim.kappa import KappaOfBatch

__all__ = ["KappaNode", "kappa_tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaNode:
    """One node that is shown.

    Attributes
    ----------
    place : which of the K nodes of the bound it is.
    parent : position, in what is shown, of the nearest node above it that is shown; None for the first.
    level : nodes shown above it.
    depth_tokens, num_requests, num_children : as in the `kappa` JSON.
    kappa : κ_u, `math.inf` where nothing is guaranteed.
    weight, allowed, lost : Ω, the loss the bound allows and the loss, as shares of the best welfare.
    hidden : nodes that are not shown and have this one as the nearest shown above them.
    """

    place: int
    parent: int | None
    level: int
    depth_tokens: int
    num_requests: int
    num_children: int
    kappa: float
    weight: float
    allowed: float
    lost: float
    hidden: int


def kappa_tree(found: KappaOfBatch, max_nodes: int = 80) -> tuple[KappaNode, ...]:
    """The topmost node and the `max_nodes` that matter most, in preorder; what matters most comes first among siblings.

    A node matters by the loss the bound allows there, then by its Ω; of siblings the one comes first that has the most
    of it below. Nodes between a shown one and the next shown above it are passed over. O(V + K log K).
    """
    if not len(found.bound.node):
        return ()
    most: list[int] = np.lexsort((-found.weight, -found.allowed))[:max_nodes].tolist()
    shown = sorted({0, *most})  # places among the K nodes, which are in preorder: the first is above all others
    above = _nearest_shown(found.priced.tree.parent, found.bound.node, shown)
    hidden = Counter(above) - Counter(above[place] for place in shown)
    position: dict[int, int] = {}
    nodes: list[KappaNode] = []
    columns = (found.depth_tokens, found.num_requests, found.num_children)
    shares = (found.bound.kappa, found.weight, found.allowed, found.lost)
    for place in _what_matters_first(shown, above, found.allowed[shown].tolist()):
        parent = position[above[place]] if place else None
        position[place] = len(nodes)
        depth, requests, children = (int(column[place]) for column in columns)
        kappa, weight, allowed, lost = (float(share[place]) for share in shares)
        nodes.append(
            KappaNode(
                place=place,
                parent=parent,
                level=0 if parent is None else nodes[parent].level + 1,
                depth_tokens=depth,
                num_requests=requests,
                num_children=children,
                kappa=kappa,
                weight=weight,
                allowed=allowed,
                lost=lost,
                hidden=hidden[place],
            )
        )
    return tuple(nodes)


def _nearest_shown(parent: IntArray, node: IntArray, shown: Sequence[int]) -> list[int]:
    """(K,) the nearest shown place above each place; −1 for the first."""
    place_of = {int(node[place]): place for place in shown}
    nearest = [-1] * int(node[-1] + 1)  # of each node of the tree, itself included
    above = []
    places = iter(node.tolist())
    upcoming = next(places, None)
    for each, over in enumerate(parent[: len(nearest)].tolist()):
        up = nearest[over] if each else -1
        nearest[each] = place_of.get(each, up)
        if each == upcoming:
            above.append(up)
            upcoming = next(places, None)
    return above


def _what_matters_first(shown: Sequence[int], above: Sequence[int], allowed: Sequence[float]) -> list[int]:
    """Shown places in preorder, siblings by the loss allowed at and below them."""
    below: Mapping[int, float] = dict(zip(shown, allowed, strict=True))
    total = dict(below)
    children: dict[int, list[int]] = {place: [] for place in shown}
    for place in reversed(shown[1:]):  # in preorder, what lies below a node comes after it
        total[above[place]] += total[place]
        children[above[place]].append(place)
    order, stack = [], [shown[0]]
    while stack:
        place = stack.pop()
        order.append(place)
        stack += sorted(children[place], key=lambda child: (total[child], -child))
    return order

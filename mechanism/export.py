"""The radix tree as a networkx graph, for looking at and for other people's algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechanism.dfs import averages, weight_totals
from mechanism.prompts import FloatArray
from mechanism.radix_tree import RadixTree

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_networkx"]


def to_networkx(tree: RadixTree, bids: FloatArray | None = None) -> nx.DiGraph[int]:
    """A directed tree, edges from parent to child, one vertex per node and per request.

    Vertices carry `num_requests` and `first_arrival`; nodes also `depth_tokens`, leaves `request`; with `bids`, (n,),
    all carry `total_bid` and `average_bid`. Children are added in arrival order. networkx is imported here, not before.

    >>> from mechanism.prompts import Prompts
    >>> from mechanism.radix_tree import build_tree
    >>> graph = to_networkx(build_tree(Prompts.from_lists([[7, 8], [7, 9], [1]])))
    >>> sorted(graph.edges), graph.nodes[1]
    ([(0, 1), (0, 4), (1, 2), (1, 3)], {'num_requests': 2, 'first_arrival': 0, 'depth_tokens': 1})
    """
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    sizes, arrivals, requests = tree.num_requests.tolist(), tree.first_arrival.tolist(), tree.leaves.tolist()
    for vertex, (size, arrival) in enumerate(zip(sizes, arrivals, strict=True)):
        is_node = vertex < tree.num_nodes
        kind = (
            {"depth_tokens": int(tree.depth_tokens[vertex])}
            if is_node
            else {"request": requests[vertex - tree.num_nodes]}
        )
        graph.add_node(vertex, num_requests=size, first_arrival=arrival, **kind)
    graph.add_edges_from(zip(tree.parent[tree.children].tolist(), tree.children.tolist(), strict=True))
    if bids is not None:
        totals = weight_totals(tree, bids)
        pairs = zip(totals.astype(bids.dtype).tolist(), averages(tree, totals).tolist(), strict=True)
        for vertex, (total, average) in enumerate(pairs):
            graph.nodes[vertex].update(total_bid=total, average_bid=average)
    return graph

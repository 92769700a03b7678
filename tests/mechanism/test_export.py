import networkx as nx
import numpy as np
from auction_kit import TREE_OF_FOUR

from mechanism.export import to_networkx
from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree

TREE = build_tree(Prompts.from_lists(TREE_OF_FOUR))


def test_edges_run_from_parent_to_child() -> None:
    graph = to_networkx(TREE)
    names = {vertex: data.get("request", "node") for vertex, data in graph.nodes.items()}
    assert sorted((a, names[b]) for a, b in graph.edges if b > 1) == [(0, 3), (1, 0), (1, 1), (1, 2)]
    assert (0, 1) in graph.edges
    assert nx.is_arborescence(graph)


def test_vertices_say_what_they_are() -> None:
    graph = to_networkx(TREE, np.array([1.0, 2.0, 6.0, 3.0]))
    node = {"num_requests": 3, "first_arrival": 0, "depth_tokens": 1, "total_bid": 9.0, "average_bid": 3.0}
    leaf = {"num_requests": 1, "first_arrival": 2, "request": 2, "total_bid": 6.0, "average_bid": 6.0}
    assert graph.nodes[1] == node
    assert leaf in graph.nodes.values()

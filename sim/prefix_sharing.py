"""How much of a workload repeats itself: the hit rate of a cache that never forgets."""

from __future__ import annotations

import numpy as np

from mechanism.prompts import IntArray, Prompts
from mechanism.radix_tree import RadixTree, build_tree

__all__ = ["prefix_sharing", "shared_tokens"]


def prefix_sharing(prompts: Prompts) -> float:
    """The share of all prompt tokens that an unbounded prefix cache would have, 0 to 1; 0 without tokens.

    >>> prefix_sharing(Prompts.from_lists([[1, 2, 3, 4], [1, 2, 3, 5]]))
    0.375
    """
    total = int(prompts.num_tokens.sum())
    return int(shared_tokens(prompts).sum()) / total if total else 0.0


def shared_tokens(prompts: Prompts) -> IntArray:
    """(n,) longest prefix that each prompt shares with any *earlier* one, at most its length − 1 (ENGINE.md's hit).

    In the order of the tree's leaves a prompt shares most with its neighbours, and with a further one as much as with
    the least of those between. So the prompts are taken out from the last to the first: whoever is then beside a
    prompt came before it. O(n) after the tree.

    >>> shared_tokens(Prompts.from_lists([[1, 2], [1, 2], [1, 9], []])).tolist()
    [0, 1, 1, 0]
    """
    n = len(prompts)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    tree = build_tree(prompts)
    beside = [*_shared_with_left(tree).tolist(), 0]
    before, after = list(range(-1, n)), list(range(1, n + 2))
    position = np.empty(n, dtype=np.int64)
    position[tree.leaves] = np.arange(n)
    shared = np.zeros(n, dtype=np.int64)
    for request, here in zip(range(n - 1, -1, -1), position[::-1].tolist(), strict=True):
        left, right = before[here], after[here]
        shared[request] = max(beside[here], beside[right])
        beside[right] = min(beside[here], beside[right])
        before[right], after[left] = left, right  # for the first leaf, `left` is −1: the unused last entry
    return np.minimum(shared, np.maximum(prompts.num_tokens - 1, 0))


def _shared_with_left(tree: RadixTree) -> IntArray:
    """(n,) tokens that each leaf shares with the leaf on its left; 0 for the first.

    The topmost vertex that starts at a leaf hangs from the lowest node that holds both.
    """
    top = tree.num_nodes + np.arange(tree.num_leaves)
    starts, first = np.unique(tree.start, return_index=True)  # preorder: the first to start there is the topmost
    top[starts] = first
    shared = tree.depth_tokens[tree.parent[top]]
    shared[0] = 0
    return shared

"""Slow and obvious: the trie, the best depth-first schedule and Clarke payments, straight from MATH.md."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

Nested = Any  # a request index, or a list of Nested: the children of a node
Symbol = tuple[int, int]  # id, length in tokens


def tokens_of(symbols: Sequence[Symbol]) -> list[tuple[int, int]]:
    """A token is the id of its symbol and the offset inside it."""
    return [(identity, offset) for identity, length in symbols for offset in range(length)]


def trie(prompts: Sequence[Sequence[Any]], requests: Sequence[int], depth: int = 0) -> Nested:
    """The request-augmented trie of prompts of tokens, with every single-child node kept."""
    families: dict[Any, list[int]] = defaultdict(list)
    ended = [request for request in requests if len(prompts[request]) == depth]
    for request in requests:
        if len(prompts[request]) > depth:
            families[prompts[request][depth]].append(request)
    return ended + [trie(prompts, family, depth + 1) for family in families.values()]


def nodes_of(prompts: Sequence[Sequence[Any]]) -> set[tuple[int, frozenset[int]]]:
    """(depth, requests below) of the root and of every prefix with at least two children."""
    below: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    nexts: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for request, prompt in enumerate(prompts):
        for depth in range(len(prompt) + 1):
            prefix = tuple(prompt[:depth])
            below[prefix].add(request)
            nexts[prefix].add(prompt[depth] if depth < len(prompt) else ("end", request))
    found = {(len(prefix), frozenset(below[prefix])) for prefix in below if len(nexts[prefix]) > 1}
    return found | {(0, frozenset(range(len(prompts))))}


def leaves(tree: Nested) -> list[int]:
    return [tree] if isinstance(tree, int) else [leaf for child in tree for leaf in leaves(child)]


def best_dfs(tree: Nested, bids: Sequence[Fraction]) -> list[int]:
    """Algorithm 1: children by average bid, ties by the smallest arrival index."""
    if isinstance(tree, int):
        return [tree]

    def key(child: Nested) -> tuple[Fraction, int]:
        below = leaves(child)
        return -sum((bids[leaf] for leaf in below), Fraction(0)) / len(below), min(below)

    return [leaf for child in sorted((c for c in tree if leaves(c)), key=key) for leaf in best_dfs(child, bids)]


def all_dfs(tree: Nested) -> Iterator[list[int]]:
    """Every depth-first schedule."""
    if isinstance(tree, int):
        yield [tree]
        return
    for children in itertools.permutations(tree):
        for parts in itertools.product(*(list(all_dfs(child)) for child in children)):
            yield [leaf for part in parts for leaf in part]


def phi(weights: Sequence[Any], order: Sequence[int]) -> Any:
    """(n − 1)·W."""
    return sum(weights[request] * (len(order) - 1 - place) for place, request in enumerate(order))


def naive_vcg(
    tree: Nested, bids: Sequence[Fraction], users: Sequence[int], num_users: int, order: Sequence[int]
) -> list[Fraction]:
    """Zero a user's bids, schedule anew, and charge what the others would gain."""
    payments = []
    for user in range(num_users):
        others = [Fraction(0) if owner == user else bid for bid, owner in zip(bids, users, strict=True)]
        gain = phi(others, best_dfs(tree, others)) - phi(others, order)
        payments.append(Fraction(gain) / (len(order) - 1) if len(order) > 1 else Fraction(0))
    return payments

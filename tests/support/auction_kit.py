"""Small auctions for tests: built by hand, drawn by Hypothesis, or from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import strategies as st

from mechanism.model import Auction
from mechanism.prompts import Prompts
from mechanism.radix_tree import RadixTree, build_tree

__all__ = [
    "TREE_OF_FOUR",
    "Case",
    "auction_of",
    "block_prompts",
    "cases",
    "needs_extended_precision",
    "node_set",
    "random_auctions",
    "seeded_case",
    "symbol_rows",
    "token_rows",
]

needs_extended_precision = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant <= 52, reason="this platform's longdouble is float64"
)

TREE_OF_FOUR = [[7, 8], [7, 9], [7], [1]]  # root → {7 → {78, 79, 7 ends}, 1}


def auction_of(
    rows: Sequence[Sequence[int]], bids: Sequence[Any], users: Sequence[int] | None = None, num_users: int | None = None
) -> Auction:
    """Token prompts and bids, one user a request unless told otherwise; Fractions stay Fractions."""
    owners = np.arange(len(rows)) if users is None else np.array(users, dtype=np.int64)
    count = num_users if num_users is not None else int(owners.max(initial=-1)) + 1
    exact = any(isinstance(bid, Fraction) for bid in bids)
    money = np.array(bids, dtype=object if exact else np.float64)
    return Auction(tree=build_tree(Prompts.from_lists(rows)), bids=money, users=owners, num_users=count)


def block_prompts(rows: Sequence[Sequence[tuple[int, int]]]) -> Prompts:
    """Prompts of (id, length) symbols."""
    flat = [symbol for row in rows for symbol in row]
    ids, lengths = (np.array([symbol[i] for symbol in flat], dtype=kind) for i, kind in ((0, np.int64), (1, np.int32)))
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    return Prompts(ids, indptr.astype(np.int64), lengths)


def node_set(tree: RadixTree) -> set[tuple[int, frozenset[int]]]:
    """(depth, requests below) of every node, as `oracles.nodes_of` says it."""
    ranges = zip(tree.depth_tokens.tolist(), tree.start.tolist(), tree.stop.tolist(), strict=True)
    return {(depth, frozenset(tree.leaves[start:stop].tolist())) for depth, start, stop in ranges}


@dataclass(frozen=True)
class Case:
    """A drawn auction on exact numbers, with the naive trie of the same prompts."""

    rows: list[list[int]]
    bids: list[Fraction]
    users: list[int]

    @property
    def num_users(self) -> int:
        return max(self.users, default=-1) + 1

    @property
    def auction(self) -> Auction:
        return auction_of(self.rows, self.bids, self.users, self.num_users)

    @property
    def trie(self) -> oracles.Nested:
        return oracles.trie(self.rows, range(len(self.rows)))


# Two letters and short prompts: identical prompts, prefixes and empty prompts are common.
token_rows = st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=9)
symbol_rows = st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3)), max_size=4), max_size=8)
_fractions = st.sampled_from([Fraction(a, b) for a in (0, 0, 0, 1, 2, 3, 5, 8) for b in (1, 2, 3)])


@st.composite
def cases(draw: st.DrawFn, min_requests: int = 0, max_requests: int = 9) -> Case:
    """Trees with ties, zero bids and users of several requests."""
    rows = draw(st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=min_requests, max_size=max_requests))
    owner = st.integers(0, draw(st.integers(0, max(len(rows) - 1, 0))))
    exactly = {"min_size": len(rows), "max_size": len(rows)}
    return Case(rows, draw(st.lists(_fractions, **exactly)), draw(st.lists(owner, **exactly)))


def seeded_case(seed: int) -> Case:
    """As `cases` draws them, but from one number: several times cheaper, and it does not shrink."""
    random = Random(seed)
    n = random.randrange(11)
    rows = [[random.randrange(3) for _ in range(random.randrange(6))] for _ in range(n)]
    bids = [Fraction(random.choice([0, 0, 1, 2, 3, 5, 8]), random.choice([1, 2, 3])) for _ in range(n)]
    owners = random.randint(1, max(n, 1))
    return Case(rows, bids, [random.randrange(owners) for _ in range(n)])


def random_auctions(count: int, max_requests: int, seed: int = 0) -> list[Auction]:
    """Float auctions of all sizes from 0 up: ties, zeros, several requests a user, the run's past given."""
    found = []
    for index in range(count):
        rng = np.random.default_rng((seed, index))
        n = index % (max_requests + 1)
        rows = [rng.integers(0, 3, rng.integers(0, 6)).tolist() for _ in range(n)]
        bids = rng.choice([0.0, 1.0, 2.0, 0.1, 0.3, 5.5], n) if index % 2 else rng.pareto(1.5, n) + 1
        users = rng.integers(0, max(1, n // 2 + index % 3), n)
        drawn = auction_of(rows, bids.tolist(), users.tolist())
        resident = np.array([rng.integers(0, len(row) + 1) for row in rows], dtype=np.int64)
        found.append(
            Auction(
                tree=drawn.tree,
                bids=drawn.bids,
                users=drawn.users,
                num_users=drawn.num_users,
                prompt_tokens=np.array([len(row) for row in rows], dtype=np.int64),
                resident_tokens=resident,
                served_tokens=rng.integers(0, 100, drawn.num_users),
            )
        )
    return found

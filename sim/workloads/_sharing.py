"""Building synthetic prompts: private tokens, shared prefixes, and the first tokens texts share by accident."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechanism.prompts import IntArray, Prompts
from sim.errors import ScenarioError
from sim.quantities import LengthTokens

__all__ = [
    "CHAIN_EXPONENTS",
    "STAR_EXPONENTS",
    "Length",
    "check_lengths",
    "check_total",
    "copy_prefixes",
    "draw_lengths",
    "private_prompts",
    "shuffled_clusters",
    "write_accidental_tokens",
]

#: A length in tokens: a number, or [low, high] for uniform on the integers between, both included.
Length = LengthTokens | tuple[LengthTokens, LengthTokens]

#: Zipf exponents of the trie's levels (MATH.md, "Assumptions that matter"); the last one holds from there on.
STAR_EXPONENTS = (1.6, 1.5, 1.4, 1.3)
CHAIN_EXPONENTS = (2.2, 2.0, 1.8, 1.6)

_NUM_CHILDREN = 300
_NUM_LEVELS = 8
_MAX_TOKENS = 1_000_000_000


def check_lengths(**lengths: Length) -> None:
    """Refuse [low, high] with low > high; the key is named."""
    for key, length in lengths.items():
        if isinstance(length, tuple) and length[0] > length[1]:
            raise ScenarioError(key, str(list(length)), "[low, high] with low ≤ high")


def check_total(tokens: float) -> None:
    """Refuse a workload that nobody's memory holds."""
    if tokens > _MAX_TOKENS:
        hint = "Ask for fewer or shorter requests."
        raise ScenarioError("workload", f"{tokens:,.0f} prompt tokens", f"at most {_MAX_TOKENS:,} in all", hint)


def draw_lengths(length: Length, n: int, rng: np.random.Generator) -> IntArray:
    """(n,) int64 lengths in tokens."""
    low, high = length if isinstance(length, tuple) else (length, length)
    return rng.integers(low, high, size=n, endpoint=True, dtype=np.int64)


def shuffled_clusters(n: int, sharing: float, cluster_size: int, rng: np.random.Generator) -> tuple[IntArray, int]:
    """(n,) cluster of each request in random order, and how many clusters there are.

    A share `sharing` of the requests comes in clusters 0, 1, … of `cluster_size` (the last one may be smaller);
    singletons are numbered after them.
    """
    num_clustered = round(n * sharing)
    num_clusters = -(-num_clustered // cluster_size)
    tidy = np.arange(n)
    tidy = np.where(tidy < num_clustered, tidy // cluster_size, tidy - num_clustered + num_clusters)
    return rng.permutation(tidy), num_clusters


def private_prompts(num_tokens: IntArray) -> Prompts:
    """n prompts of these lengths that share nothing: every token id in them occurs once, from 300 on.

    The caller then writes what is shared over `symbols`, in place.
    """
    check_total(float(num_tokens.sum(dtype=np.float64)))
    indptr = np.concatenate(([0], np.cumsum(num_tokens, dtype=np.int64))).astype(np.int64)
    end = _NUM_CHILDREN + int(indptr[-1])
    dtype = np.int32 if end <= np.iinfo(np.int32).max else np.int64
    return Prompts(np.arange(_NUM_CHILDREN, end, dtype=dtype), indptr)


def copy_prefixes(prompts: Prompts, copies: Iterable[tuple[int, int, int]]) -> None:
    """For every (target, source, k): the target's first k tokens become the source's; in the order given."""
    symbols, starts = prompts.symbols, prompts.indptr.tolist()
    for target, source, k in copies:
        a, b = starts[target], starts[source]
        symbols[a : a + k] = symbols[b : b + k]


def write_accidental_tokens(
    prompts: Prompts, rows: IntArray, offsets: IntArray, exponents: tuple[float, ...], rng: np.random.Generator
) -> None:
    """Let the texts that start at `offsets` of the prompts `rows` begin alike by accident, as real ones do.

    Each text walks a token trie for 8 levels, a Zipf draw among 300 children at each; a child's rank is its token
    id, 0 … 299, so texts that agree on their first k draws share k tokens. A text that is shorter stops early.
    """
    starts = prompts.indptr[rows] + offsets
    room = prompts.indptr[rows + 1] - starts
    ranks = np.arange(1.0, _NUM_CHILDREN + 1)
    for level in range(_NUM_LEVELS):
        weights = ranks ** -exponents[min(level, len(exponents) - 1)]
        edges = np.cumsum(weights / weights.sum())[:-1]
        tokens = np.searchsorted(edges, rng.random(len(rows)), side="right")
        fits = level < room
        prompts.symbols[starts[fits] + level] = tokens[fits]

"""What the κ bound costs on a million requests, tree building apart: a star, small stars, a 3-ary tree.

CPU seconds. The bound alone is what `kappa --json` computes; the pair bound and the exact loss of every overtaken
sibling are what the page adds, here on their worst shape: all requests siblings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from _bench import BenchRow

from mechanism.bounds import welfare_bound
from mechanism.inversions import Siblings, losses_by_overtaken
from mechanism.pair_bound import allowed_by_pairs
from mechanism.prompts import FloatArray, Prompts
from mechanism.radix_tree import RadixTree, build_tree, star_tree

LARGE = 1_000_000
BAR_S, PAIRS_BAR_S = 5.0, 20.0


def small_stars(n: int) -> RadixTree:
    """Sixteen requests to a prefix."""
    request = np.arange(n)
    symbols = np.stack([request // 16, n + request], axis=1).astype(np.int32)
    return build_tree(Prompts(symbols.reshape(-1), np.arange(n + 1) * 2))


def ternary(n: int) -> RadixTree:
    """A 3-ary tree, requests at its leaves."""
    depth = math.ceil(math.log(n, 3))
    digits = np.stack([np.arange(n) // 3**k % 3 for k in range(depth)][::-1], axis=1).astype(np.int32)
    return build_tree(Prompts(digits.reshape(-1), np.arange(n + 1) * depth))


def money(n: int) -> tuple[FloatArray, FloatArray]:
    """Paced bids and their values."""
    rng = np.random.default_rng(0)
    values = rng.pareto(1.5, n) + 1
    return values * rng.uniform(0.3, 1.0, n), values


def spent(work: Callable[[], object]) -> float:
    """CPU seconds, the better of two."""
    times = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def rows() -> list[BenchRow]:
    """A row a shape for the bound, and what the page adds."""
    found = []
    bids, values = money(LARGE)
    for name, shape in (("star", star_tree), ("stars of 16", small_stars), ("3-ary tree", ternary)):
        tree = shape(LARGE)
        large = spent(lambda tree=tree: welfare_bound(tree, bids, values))  # type: ignore[misc]
        found.append(BenchRow(f"κ bound, 10⁶ requests, {name}", f"{large:.2f} s", f"≤ {BAR_S:.0f} s", large <= BAR_S))
    siblings = Siblings.of(star_tree(LARGE), bids, values)
    for name, work in (("pair bound", allowed_by_pairs), ("losses by overtaken sibling", losses_by_overtaken)):
        large = spent(lambda work=work: work(siblings))  # type: ignore[misc]
        found.append(
            BenchRow(f"{name}, 10⁶ siblings", f"{large:.1f} s", f"≤ {PAIRS_BAR_S:.0f} s", large <= PAIRS_BAR_S)
        )
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)

"""Theorem 4.4 and what stands beside it, slow and obvious: double loops over siblings, straight from MATH.md."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import oracles

__all__ = ["Priced", "drawn"]

Family = list[list[int]]  # the requests below each child of one node


@dataclass(frozen=True)
class Priced:
    """Prompts with values and bids on exact numbers, and every quantity of the theorem by its definition."""

    rows: list[list[int]]
    bids: list[Fraction]
    values: list[Fraction]
    users: list[int]

    @functools.cached_property
    def trie(self) -> oracles.Nested:
        return oracles.trie(self.rows, range(len(self.rows)))

    @functools.cached_property
    def families(self) -> list[Family]:
        """The children of every node that has at least two."""
        return list(_families(self.trie))

    @functools.cached_property
    def served(self) -> list[int]:
        """A(b)."""
        return oracles.best_dfs(self.trie, self.bids)

    def ratio(self) -> Fraction:
        best = oracles.phi(self.values, oracles.best_dfs(self.trie, self.values))
        return Fraction(oracles.phi(self.values, self.served), best) if best else Fraction(1)

    def omega(self, family: Family) -> Fraction:
        """Σ_{j<k} F_v(c_j)·N(c_k), children by average value."""
        ranked = sorted(family, key=lambda child: -self.worth(child) / len(child))
        return sum((self.worth(a) * len(b) for a, b in itertools.combinations(ranked, 2)), Fraction(0))

    def inverse_kappa(self, family: Family) -> Fraction:
        """1/κ, 0 for the two holes of MATH.md."""
        if any((self.worth(child) > 0) != (self.said(child) > 0) for child in family):
            return Fraction(0)
        return self.naive_inverse_kappa(family)

    def naive_inverse_kappa(self, family: Family) -> Fraction:
        """1/κ by the paper's words alone: max and min over the children with value, 1 if at most one has any."""
        alphas = [self.said(child) / self.worth(child) for child in family if self.worth(child) > 0]
        return min(alphas) / max(alphas) if len(alphas) > 1 and max(alphas) > 0 else Fraction(1)

    def bound(self, *, naive: bool = False) -> Fraction:
        families = self.families
        total = sum(map(self.omega, families), Fraction(0))
        share = self.naive_inverse_kappa if naive else self.inverse_kappa
        kept = sum((self.omega(family) * share(family) for family in families), Fraction(0))
        return kept / total if total else Fraction(1)

    def pairs(self, family: Family) -> Iterator[tuple[list[int], list[int]]]:
        """Siblings of different average value, the one worth more first."""
        for a, b in itertools.combinations(family, 2):
            gap = self.worth(a) * len(b) - self.worth(b) * len(a)
            if gap:
                yield (a, b) if gap > 0 else (b, a)

    def pair_share(self, i: list[int], j: list[int]) -> Fraction:
        """s(i, j) of the pair bound, i worth more than j."""
        if self.said(i) == 0 or (self.said(j) > 0 and self.worth(j) == 0):
            return Fraction(0)
        if self.said(j) == 0:
            return Fraction(1)
        return min(Fraction(1), self.said(i) / self.worth(i) / (self.said(j) / self.worth(j)))

    def allowed_by_pairs(self, family: Family) -> Fraction:
        return sum(((1 - self.pair_share(i, j)) * self.worth(i) * len(j) for i, j in self.pairs(family)), Fraction(0))

    def inversions(self, family: Family) -> list[tuple[list[int], list[int], Fraction]]:
        """(served first, served later though worth more, loss)."""
        place = {request: position for position, request in enumerate(self.served)}
        return [
            (j, i, self.worth(i) * len(j) - self.worth(j) * len(i))
            for i, j in self.pairs(family)
            if place[j[0]] < place[i[0]]
        ]

    def lost(self, family: Family) -> Fraction:
        return sum((loss for *_, loss in self.inversions(family)), Fraction(0))

    def worth(self, child: Sequence[int]) -> Fraction:
        return sum((self.values[request] for request in child), Fraction(0))

    def said(self, child: Sequence[int]) -> Fraction:
        return sum((self.bids[request] for request in child), Fraction(0))


def drawn(seed: int, alphas: Sequence[Fraction] = (), most: int = 8) -> Priced:
    """A small instance: ties, equal prompts and zeros are common. With `alphas`, every bid is one of them times v."""
    random = Random(seed)
    n = random.randrange(most + 1)
    rows = [[random.randrange(3) for _ in range(random.randrange(5))] for _ in range(n)]
    values = [Fraction(random.choice([0, 0, 1, 2, 3, 5]), random.choice([1, 2, 3])) for _ in range(n)]
    shares = alphas or [Fraction(a, b) for a in (0, 1, 2, 3) for b in (3, 4)]
    bids = [random.choice(shares) * value for value in values]
    if not alphas and random.random() < 0.3:  # bids beside values, not shares of them
        bids = [random.choice([bid, Fraction(random.randrange(4))]) for bid in bids]
    return Priced(rows, bids, values, [random.randrange(random.randint(1, 4)) for _ in range(n)])


def _families(tree: oracles.Nested) -> Iterator[Family]:
    if isinstance(tree, int):
        return
    children = [oracles.leaves(child) for child in tree]
    if len(children) > 1:
        yield children
    for child in tree:
        yield from _families(child)

"""Coalitions of two: a pair of users agrees on what both bid."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie
from mechanism.audit.misreports import scales
from mechanism.audit.search import best_of, climb
from mechanism.prompts import FloatArray

__all__ = ["Coalitions"]

GRID = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 3.0)


@dataclass(frozen=True, slots=True)
class Coalitions:
    """Each of the two scales all his bids; with side payments the sum of gains counts, without the smaller gain."""

    kinds: ClassVar[tuple[str, ...]] = ("coalition", "coalition-side-payments")

    def subjects(self, game: Game, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """At most `limit` pairs: half of them whose requests are served next to each other, the rest at random."""
        served = game.users[game.order()]
        next_to = {(min(a, b), max(a, b)) for a, b in itertools.pairwise(served.tolist()) if a != b}
        neighbours = sorted(next_to)
        chosen = {neighbours[at] for at in rng.permutation(len(neighbours))[: (limit + 1) // 2]}
        for _ in range(4 * limit if game.num_users > 1 else 0):  # enough draws to find pairs that are new
            if len(chosen) >= limit:
                break
            a, b = rng.choice(game.num_users, 2, replace=False).tolist()
            chosen.add((min(a, b), max(a, b)))
        return sorted(chosen)

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:  # noqa: ARG002
        """The best joint scaling without, and with side payments, where they pay."""
        pair = list(who)
        requests = [game.requests_of(user) for user in who]
        bases, honest = zip(*(scales(game, mine) for mine in requests), strict=True)

        def lie(factors: FloatArray) -> Lie:
            bids = game.values.copy()
            for mine, base, truth, factor in zip(requests, bases, honest, factors, strict=True):
                bids[mine] = base * truth * factor
            return Lie(bids=bids)

        def gains(factors: FloatArray) -> FloatArray:
            return game.play(lie(factors)).utility[pair] - game.truth.utility[pair]

        grid = [np.array(factors) for factors in itertools.product(GRID, repeat=2)]
        outcomes = [gains(factors) for factors in grid]
        moves = [np.array([0]), np.array([1]), np.array([0, 1])]
        found = []
        for kind, score in zip(self.kinds, (_smaller, _together), strict=True):
            at, value = best_of(range(len(grid)), lambda at, score=score: score(outcomes[at]))  # type: ignore[misc]
            factors, value = climb(grid[at], value, moves, lambda tried, score=score: score(gains(tried)))  # type: ignore[misc]
            if value <= 0:
                continue
            play = game.play(lie(factors))
            each = tuple((play.utility[pair] - game.truth.utility[pair]).tolist())
            how = f"bid {factors[0]:.4g} × and {factors[1]:.4g} × their values"
            found.append(Deviation(kind=kind, who=who, gains=each, lie=lie(factors), how=how, welfare=play.welfare))
        return found


def _smaller(gains: FloatArray) -> float:
    return float(gains.min())


def _together(gains: FloatArray) -> float:
    return float(gains.sum())

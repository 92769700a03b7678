"""Coalitions of two: a pair of users agrees on what both bid."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game
from mechanism.audit.misreports import Misreports, scales, told
from mechanism.audit.search import best_of, climb
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Coalitions"]

GRID = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 3.0)
#: What a pair bids that does best together, and what that score is.
Found = tuple[FloatArray, float]


@dataclass(frozen=True, slots=True)
class Coalitions:
    """Both scale all their bids, or start from what each would best say alone; then improved step by step, by user.

    With side payments the sum of the gains counts, without the smaller gain. `alone`: the search of what each would
    best say; left out where the payment rule says that nobody gains alone.
    """

    alone: Misreports = field(default_factory=Misreports)

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

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:
        """The best joint misreport without, and with side payments, where they pay."""
        pair = list(who)
        mine = [game.requests_of(user) for user in who]
        requests = np.concatenate(mine)
        base, honest = scales(game, requests)

        def gains(bids: FloatArray) -> FloatArray:
            return game.play(told(game, requests, bids)).utility[pair] - game.truth.utility[pair]

        starts = [base * honest * np.repeat(factors, [len(each) for each in mine]) for factors in _grid()]
        starts += self._solo(game, who, requests, rng)
        outcomes = [gains(bids) for bids in starts]
        parts = [np.arange(len(mine[0])), np.arange(len(mine[0]), len(requests))]
        found = []
        for kind, score in zip(self.kinds, (_smaller, _together), strict=True):
            bids, value = _best(starts, outcomes, gains, score, [*parts, np.arange(len(requests))])
            if value <= 0:
                continue
            lie = told(game, requests, bids)
            play = game.play(lie)
            starts, outcomes = [*starts, bids], [*outcomes, gains(bids)]  # what both gain by, they may also share
            each = tuple((play.utility[pair] - game.truth.utility[pair]).tolist())
            how = _words(bids, game.values[requests], parts)
            found.append(Deviation(kind=kind, who=who, gains=each, lie=lie, how=how, welfare=play.welfare))
        return found

    def _solo(self, game: Game, who: tuple[int, ...], requests: IntArray, rng: np.random.Generator) -> list[FloatArray]:
        """What the pair bids when one or both say what is best alone."""
        if game.pricing.truthful:
            return []
        lies = [lie for user in who for lie in self.alone.search(game, (user,), rng)]
        both = game.values.copy()
        for lie in lies:
            mine = game.requests_of(lie.who[0])
            both[mine] = lie.lie.bids[mine]
        alone = [lie.lie.bids[requests] for lie in lies]
        return [*alone, both[requests]] if len(lies) == 2 else alone


def _grid() -> list[FloatArray]:
    return [np.array(factors) for factors in itertools.product(GRID, repeat=2)]


def _best(
    starts: Sequence[FloatArray],
    outcomes: Sequence[FloatArray],
    gains: Callable[[FloatArray], FloatArray],
    score: Callable[[FloatArray], float],
    moves: Sequence[IntArray],
) -> Found:
    at, value = best_of(range(len(starts)), lambda at: score(outcomes[at]))
    return climb(starts[at], value, moves, lambda tried: score(gains(tried)))


def _words(bids: FloatArray, values: FloatArray, parts: Sequence[IntArray]) -> str:
    """What each of the two bids, as multiples of his values."""
    said = []
    for part in parts:
        factors = np.divide(bids[part], values[part], out=np.ones(len(part)), where=values[part] > 0)
        low, high = float(factors.min()), float(factors.max())
        said.append(f"{low:.4g} ×" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} … {high:.4g} ×")
    return f"bid {said[0]} and {said[1]} their values"


def _smaller(gains: FloatArray) -> float:
    return float(gains.min())


def _together(gains: FloatArray) -> float:
    return float(gains.sum())

"""Unilateral misreports: one user says something else than his values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie
from mechanism.audit.search import best_of, climb
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Misreports", "scaled_words", "scales", "told"]

GRID = (0.0, 0.01, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0, 100.0)
SINGLE_GRID = (0.0, 0.1, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 10.0)


@dataclass(frozen=True, slots=True)
class Misreports:
    """Bids scaled on all requests of a user, or moved on one; then improved step by step, all and one by one.

    A request that is worth nothing has no value to scale: its bid is scaled from the batch's mean value, starting at 0.
    """

    max_requests: int = 6

    kinds: ClassVar[tuple[str, ...]] = ("misreport",)

    def subjects(self, game: Game, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """At most `limit` users, at random."""
        return [(int(user),) for user in np.sort(rng.permutation(game.num_users)[:limit])]

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:  # noqa: ARG002
        """The best misreport found, if any pays."""
        (user,) = who
        mine = game.requests_of(user)
        base, honest = scales(game, mine)
        singles = np.argsort(-game.values[mine], kind="stable")[: self.max_requests]

        def gain(factors: FloatArray) -> float:
            return float(game.play(told(game, mine, base * factors)).utility[user] - game.truth.utility[user])

        candidates = [np.where(honest > 0, factor, 0.0) for factor in GRID]
        for one in singles:
            candidates += [_with(honest, one, factor) for factor in SINGLE_GRID]
        start, value = best_of(candidates, gain)
        moves = [np.arange(len(mine)), *(np.array([one]) for one in singles)]
        factors, value = climb(start, value, moves if len(mine) > 1 else moves[:1], gain)
        if value <= 0:
            return []
        lie = told(game, mine, base * factors)
        how = f"bids {_words(factors)} his value"
        return [Deviation(kind="misreport", who=who, gains=(value,), lie=lie, how=how, welfare=game.play(lie).welfare)]


def scales(game: Game, requests: IntArray) -> tuple[FloatArray, FloatArray]:
    """What factors multiply for these requests, and the honest factors: 1, or 0 for a request without value."""
    values = game.values[requests]
    worthless = values == 0
    return np.where(worthless, game.values.mean(), values), np.where(worthless, 0.0, 1.0)


def told(game: Game, requests: IntArray, bids: FloatArray) -> Lie:
    """The truth, but for the bids of some requests."""
    said = game.values.copy()
    said[requests] = bids
    return Lie(bids=said)


def scaled_words(factors: FloatArray, honest: FloatArray) -> str:
    """What is said besides the trick, where all bids of a user are scaled by one factor; nothing for true bids."""
    moved = factors[honest > 0]
    return "" if not len(moved) or moved[0] == 1.0 else f", bids {moved[0]:.4g} × his value{'s' * (len(factors) > 1)}"


def _with(factors: FloatArray, at: int, factor: float) -> FloatArray:
    changed = factors.copy()
    changed[at] = factor
    return changed


def _words(factors: FloatArray) -> str:
    if np.all(factors == factors[0]):
        return f"{factors[0]:.4g} ×"
    moved = np.flatnonzero(factors != 1)
    if len(moved) == 1:
        return f"on one request {factors[moved[0]]:.4g} ×"
    return f"{factors.min():.4g} … {factors.max():.4g} ×"

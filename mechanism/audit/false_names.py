"""False names: one user sends his requests under several names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie
from mechanism.audit.trick import best_trick
from mechanism.prompts import IntArray

__all__ = ["FalseNames"]


@dataclass(frozen=True, slots=True)
class FalseNames:
    """A name for each request, a name for the more and one for the less valuable half, or two names at random.

    Bids are true at first; those of the best split are then scaled, for what one's names pay depends on one's own bids.
    """

    random_splits: int = 6

    kinds: ClassVar[tuple[str, ...]] = ("false-names",)

    def subjects(self, game: Game, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """At most `limit` users with two or more requests, at random."""
        several = np.flatnonzero(np.bincount(game.users, minlength=game.num_users) > 1)
        return [(int(user),) for user in np.sort(rng.permutation(several)[:limit])]

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:
        """The best split found, if any pays."""
        (user,) = who
        mine = game.requests_of(user)

        lies = (Lie(bids=game.values, names=names) for names in self._splits(game, user, mine, rng))

        def words(lie: Lie) -> str:
            assert lie.names is not None
            return f"sends {len(mine)} requests under {len(np.unique(lie.names[mine]))} names"

        return best_trick(game, user, "false-names", lies, words)

    def _splits(self, game: Game, user: int, mine: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
        """(n,) names; the user keeps his own for part of his requests, new names come after all users'."""

        def named(parts: IntArray) -> IntArray:
            names = game.users.copy()
            names[mine] = np.where(parts == 0, user, game.num_users + parts - 1)
            return names

        size = len(mine)
        yield named(np.arange(size))
        if size < 3:
            return
        by_value = np.empty(size, dtype=np.int64)
        by_value[np.argsort(-game.values[mine], kind="stable")] = np.arange(size)
        yield named((by_value >= size // 2).astype(np.int64))
        for _ in range(self.random_splits):
            parts = rng.permutation(np.arange(size) % 2)
            yield named(parts)

"""The audit of one auction: every kind of manipulation, for a sample of users, reproducible from a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mechanism.audit.coalitions import Coalitions
from mechanism.audit.false_names import FalseNames
from mechanism.audit.game import TOLERANCE, Deviation, Game
from mechanism.audit.misreports import Misreports
from mechanism.audit.padding import PaddedPrompts

__all__ = ["MANIPULATIONS", "Finding", "Manipulation", "audit"]


class Manipulation(Protocol):
    """A way of lying: who might try it, and a search for the lie that pays best."""

    kinds: ClassVar[tuple[str, ...]]

    def subjects(self, game: Game, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """At most `limit` users, or groups of users, to try it on."""

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:
        """What these users could do that pays, at most one a kind."""


MANIPULATIONS: tuple[Manipulation, ...] = (Misreports(), FalseNames(), Coalitions(), PaddedPrompts())


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of manipulation in one auction.

    Attributes
    ----------
    kind : of manipulation.
    planned, tried : users, or pairs of users, to try it on, and those it was tried on: fewer after Ctrl-C.
    deviations : lies that pay more than rounding, at most one for each of them.
    """

    kind: str
    planned: int
    tried: int
    deviations: tuple[Deviation, ...]


def audit(
    game: Game,
    limit: int,
    rng: np.random.Generator,
    manipulations: Sequence[Manipulation] = MANIPULATIONS,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[Finding]:
    """Search for lies that pay, by at most `limit` users or pairs for each kind.

    What is found pays, by recomputation of the auction. What is not found may still exist: this is a search, not a
    proof. `progress` is told how many users or pairs of all have been tried. At a KeyboardInterrupt the search ends,
    and what was found so far is returned: then some `tried` is less than `planned`.
    """
    generators = rng.spawn(len(manipulations))
    subjects = [each.subjects(game, limit, own) for each, own in zip(manipulations, generators, strict=True)]
    total, done, found = sum(map(len, subjects)), 0, []
    tried = [0] * len(manipulations)
    try:
        for place, (manipulation, own) in enumerate(zip(manipulations, generators, strict=True)):
            for who in subjects[place]:
                progress(done, total)
                found += manipulation.search(game, who, own)
                tried[place], done = tried[place] + 1, done + 1
        progress(done, total)
    except KeyboardInterrupt:
        pass  # the caller sees it by the numbers
    return [
        Finding(kind=kind, planned=len(planned), tried=count, deviations=_paying(game, found, kind))
        for manipulation, planned, count in zip(manipulations, subjects, tried, strict=True)
        for kind in manipulation.kinds
    ]


def _paying(game: Game, found: Sequence[Deviation], kind: str) -> tuple[Deviation, ...]:
    """Those of a kind that pay more than rounding."""
    return tuple(each for each in found if each.kind == kind and each.counted > TOLERANCE * game.worth(each.who))

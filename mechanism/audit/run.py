"""The audit of one auction: every kind of manipulation, for a sample of users, reproducible from a generator."""

from __future__ import annotations

from collections.abc import Sequence
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
    tried : users, or pairs of users, it was tried on.
    deviations : lies that pay more than rounding, at most one for each of them.
    """

    kind: str
    tried: int
    deviations: tuple[Deviation, ...]


def audit(
    game: Game,
    limit: int,
    rng: np.random.Generator,
    manipulations: Sequence[Manipulation] = MANIPULATIONS,
) -> list[Finding]:
    """Search for lies that pay, by at most `limit` users or pairs for each kind.

    What is found pays, by recomputation of the auction. What is not found may still exist: this is a search, not a
    proof.
    """
    findings = []
    for manipulation, own in zip(manipulations, rng.spawn(len(manipulations)), strict=True):
        subjects = manipulation.subjects(game, limit, own)
        found = [each for who in subjects for each in manipulation.search(game, who, own)]
        for kind in manipulation.kinds:
            paying = tuple(each for each in found if each.kind == kind and each.gain > TOLERANCE * game.worth(each.who))
            findings.append(Finding(kind=kind, tried=len(subjects), deviations=paying))
    return findings

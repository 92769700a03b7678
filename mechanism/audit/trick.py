"""Tricks beside the bids: the best of several ways to play one, with true bids first, then with scaled ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie
from mechanism.audit.misreports import scaled_words, scales, told
from mechanism.audit.search import best_of, climb
from mechanism.prompts import FloatArray

__all__ = ["best_trick"]


def best_trick(game: Game, user: int, kind: str, lies: Iterable[Lie], words: Callable[[Lie], str]) -> list[Deviation]:
    """The deviation of `user` by the best of `lies`, if what the trick adds pays.

    Parameters
    ----------
    lies : at least one, each with true bids; those of the best are then scaled, for what a trick pays depends on them.
    words : a lie in words, but for its bids.
    """
    mine = game.requests_of(user)
    best, value = best_of(lies, lambda lie: game.adds(lie, user))
    base, honest = scales(game, mine)

    def shaded(factors: FloatArray) -> Lie:
        return replace(best, bids=told(game, mine, base * factors).bids)

    factors, value = climb(honest, value, [np.arange(len(mine))], lambda factors: game.adds(shaded(factors), user))
    if value <= 0:
        return []
    lie = best if factors is honest else shaded(factors)
    play = game.play(lie)
    return [
        Deviation(
            kind=kind,
            who=(user,),
            gains=(float(play.utility[user] - game.truth.utility[user]),),
            adds=value,
            lie=lie,
            how=words(best) + scaled_words(factors, honest),
            welfare=play.welfare,
        )
    ]

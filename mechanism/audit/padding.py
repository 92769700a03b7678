"""Sybil prefixes: text in front of a prompt, to join a popular subtree or to leave an unpopular one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie
from mechanism.audit.pen import Padding
from mechanism.audit.trick import best_trick
from mechanism.dfs import averages, weight_totals
from mechanism.prompts import IntArray
from mechanism.radix_tree import RadixTree

__all__ = ["PaddedPrompts"]


@dataclass(frozen=True, slots=True)
class PaddedPrompts:
    """One request, or all of a user, moved below each of the best paying or biggest nodes, or to the root alone.

    The text in front is assumed to change neither what a request is worth nor whether it is served well.
    """

    max_requests: int = 4
    max_nodes: int = 6

    kinds: ClassVar[tuple[str, ...]] = ("padding",)

    def subjects(self, game: Game, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """At most `limit` users, at random."""
        return [(int(user),) for user in np.sort(rng.permutation(game.num_users)[:limit])]

    def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:  # noqa: ARG002
        """The best padding found, if any pays: with true bids first, then with scaled ones."""
        (user,) = who
        mine = game.requests_of(user)

        paddings = list(self._paddings(game, mine))
        if not paddings:
            return []
        return best_trick(game, user, "padding", (game.padded(each, game.values) for each in paddings), _words)

    def _paddings(self, game: Game, mine: IntArray) -> Iterator[tuple[Padding, ...]]:
        pen = game.pen
        assert pen is not None
        few = mine[np.argsort(-game.values[mine], kind="stable")][: self.max_requests].tolist()
        movers = [[request] for request in few] + ([mine.tolist()] if len(mine) > 1 else [])
        for requests in movers:
            fronts = [[pen.fresh(request) for request in requests]]
            for node in self._popular(game, requests):
                copied, depth = _under(game.tree, node, requests), int(game.tree.depth_tokens[node])
                if copied is not None:
                    fronts.append([pen.copy(request, copied, depth) for request in requests])
            for found in fronts:
                spelled = tuple(each for each in found if each is not None)
                if len(spelled) == len(requests):
                    yield spelled

    def _popular(self, game: Game, requests: Sequence[int]) -> list[int]:
        """Nodes by average value, and by size, that not all of the requests are below already."""
        tree = game.tree
        average = averages(tree, weight_totals(tree, game.values))[: tree.num_nodes].astype(np.float64)
        size = tree.num_requests[: tree.num_nodes]
        half = self.max_nodes // 2
        ranked = [*np.argsort(-average, kind="stable")[: 2 * half], *np.argsort(-size, kind="stable")[: half + 1]]
        place = np.flatnonzero(np.isin(tree.leaves, requests))
        outside = ~((tree.start <= place[0]) & (place[-1] < tree.stop))
        wanted = [node for node in map(int, ranked) if node != 0 and outside[node]]
        return list(dict.fromkeys(wanted))[: self.max_nodes]


def _under(tree: RadixTree, node: int, but: Sequence[int]) -> int | None:
    """A request below a node that is none of `but`."""
    below = tree.leaves[tree.start[node] : tree.stop[node]]
    others = below[~np.isin(below, but)]
    return int(others.min()) if len(others) else None


def _words(lie: Lie) -> str:
    count = len(lie.padding)
    prompts = "a prompt" if count == 1 else f"{count} prompts"
    first = lie.padding[0]
    unit = "character" if first.characters else "token"
    if first.copied is None:
        what = "block" if first.block_tokens is not None else unit
        return f"begins {prompts} with a {what} of {'its' if count == 1 else 'their'} own"
    amount = f"a {unit}" if first.amount == 1 else f"{first.amount:,} {unit}s"
    return f"begins {prompts} with {amount} of a popular one"

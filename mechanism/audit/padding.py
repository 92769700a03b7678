"""Sybil prefixes: text in front of a prompt, to join a popular subtree or to leave an unpopular one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanism.audit.game import Deviation, Game, Lie, Padding
from mechanism.audit.misreports import scales, told
from mechanism.audit.search import best_of, climb
from mechanism.dfs import averages, weight_totals
from mechanism.prompts import FloatArray, IntArray, Prompts
from mechanism.radix_tree import RadixTree, build_tree

__all__ = ["PaddedPrompts", "padded_tree"]


def padded_tree(tree: RadixTree, padding: Sequence[Padding]) -> RadixTree:
    """The prompt tree once some prompts have text in front.

    Shape and arrivals are those of real prompts; token depths are not kept, for no price depends on them. A padded
    prompt goes on with its own text, which no other prompt has at that place; several prompts padded alike keep what
    they share of it.

    Parameters
    ----------
    padding : at most one a request; `tokens` is the depth of a node above the request that is `copied`.
    """
    paths = _paths(tree)
    new = tree.num_nodes + 1
    rows = [list(path) for path in paths]
    for each in padding:
        front = [-1] if each.copied is None else _front(tree, paths[each.copied], each.tokens)
        own = [new * (1 + front[-1]) + node for node in paths[each.request]]
        rows[each.request] = front + own
    return build_tree(Prompts.from_lists(rows))


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

        lies = [
            Lie(bids=game.values, tree=padded_tree(game.tree, padding), padding=padding)
            for padding in self._paddings(game, mine)
        ]
        best, value = best_of(lies, lambda lie: game.adds(lie, user))
        base, honest = scales(game, mine)

        def shaded(factors: FloatArray) -> Lie:
            return replace(told(game, mine, base * factors), tree=best.tree, padding=best.padding)

        factors, value = climb(honest, value, [np.arange(len(mine))], lambda factors: game.adds(shaded(factors), user))
        if value <= 0:
            return []
        lie = shaded(factors)
        welfare = game.play(lie).welfare
        return [Deviation(kind="padding", who=who, gains=(value,), lie=lie, how=_words(best), welfare=welfare)]

    def _paddings(self, game: Game, mine: IntArray) -> Iterator[tuple[Padding, ...]]:
        few = mine[np.argsort(-game.values[mine], kind="stable")][: self.max_requests].tolist()
        movers = [[request] for request in few] + ([mine.tolist()] if len(mine) > 1 else [])
        for requests in movers:
            yield tuple(Padding(request, None, 1) for request in requests)
            for node in self._popular(game, requests):
                copied, depth = _under(game.tree, node, requests), int(game.tree.depth_tokens[node])
                if copied is not None:
                    yield tuple(Padding(request, copied, depth) for request in requests)

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


def _paths(tree: RadixTree) -> list[list[int]]:
    """Nodes above each request, from below the root down."""
    above: list[list[int]] = [[]]
    for node, parent in enumerate(tree.parent[1 : tree.num_nodes].tolist(), start=1):  # parents come first
        above.append([*above[parent], node])
    paths: list[list[int]] = [[]] * tree.num_leaves
    for request, parent in zip(tree.leaves.tolist(), tree.parent[tree.num_nodes :].tolist(), strict=True):
        paths[request] = above[parent]
    return paths


def _front(tree: RadixTree, path: Sequence[int], tokens: int) -> list[int]:
    """The nodes of a path that lie within its first `tokens` tokens."""
    return [node for node in path if tree.depth_tokens[node] <= tokens]


def _under(tree: RadixTree, node: int, but: Sequence[int]) -> int | None:
    """A request below a node that is none of `but`."""
    below = tree.leaves[tree.start[node] : tree.stop[node]]
    others = below[~np.isin(below, but)]
    return int(others.min()) if len(others) else None


def _words(lie: Lie) -> str:
    count = len(lie.padding)
    prompts = "a prompt" if count == 1 else f"{count} prompts"
    first = lie.padding[0]
    if first.copied is None:
        return f"begins {prompts} with a token of {'its' if count == 1 else 'their'} own"
    tokens = "a token" if first.tokens == 1 else f"{first.tokens:,} tokens"
    return f"begins {prompts} with {tokens} of a popular one"

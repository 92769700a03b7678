"""Prompts of symbols as token ids a real model takes, with exactly the same shared prefixes.

Recorded token ids that the model knows are sent as they are. Symbols that are no such ids (private ids of synthetic
prompts, trace blocks of 512 tokens) are replaced along the prefix tree: siblings get different first tokens, so two
prompts share k tokens after the translation exactly when they did before.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray, Prompts
from mechanism.radix_tree import build_tree

__all__ = ["PromptTokens"]

#: Ids below are never made up: most models keep their special tokens there.
RESERVED = 256


class PromptTokens:
    """The token ids of every prompt.

    Parameters
    ----------
    prompts : n prompts.
    vocab_tokens : the model's token ids are 0 … vocab_tokens − 1, more than `RESERVED`.
    salt : None, or a number that makes all tokens different: for a server whose cache still holds another run's.

    Attributes
    ----------
    recorded : whether the ids are the prompts' own.
    accidents : siblings that had to share their first token with another, because there are more than ids.
    """

    def __init__(self, prompts: Prompts, vocab_tokens: int, salt: int | None = None) -> None:
        self._prompts, self._span = prompts, vocab_tokens - RESERVED
        self._salt = int(_mixed(np.array([salt or 0], dtype=np.uint64))[0])
        self.recorded = salt is None and prompts.lengths is None and _within(prompts.symbols, vocab_tokens)
        self.accidents = 0
        if not self.recorded:
            self._plant()

    def of(self, index: int) -> list[int]:
        """The tokens of one prompt; O(its length)."""
        prompts = self._prompts
        if self.recorded:
            own: list[int] = prompts.symbols[prompts.indptr[index] : prompts.indptr[index + 1]].tolist()
            return own
        parts: list[list[int]] = []
        vertex = int(self._leaf[index])
        while vertex:
            parts.append(self._edge(vertex))
            vertex = int(self._parent[vertex])
        return [token for part in reversed(parts) for token in part]

    def unused(self, count: int) -> list[int]:
        """Tokens with which no prompt starts: what probes and warm-ups begin with. Fewer where hardly any is left."""
        if not self.recorded:
            return list(range(1, 1 + min(count, RESERVED - 1)))
        prompts = self._prompts
        starts = prompts.indptr[:-1][np.diff(prompts.indptr) > 0]
        used = set(prompts.symbols[starts].tolist())
        free = (token for token in range(1, self._span + RESERVED) if token not in used)
        return [token for token, _ in zip(free, range(count), strict=False)]

    def _plant(self) -> None:
        tree = build_tree(self._prompts)
        self._parent, self._leaf = tree.parent, tree.num_nodes + np.argsort(tree.leaves)
        depth = np.concatenate((tree.depth_tokens, self._prompts.num_tokens[tree.leaves]))
        self._length = depth - tree.depth_tokens[tree.parent]
        rank = np.zeros(len(depth), dtype=np.int64)
        family = tree.parent[tree.children]
        rank[tree.children] = np.arange(len(tree.children)) - tree.indptr[family]
        self._rank = rank
        self.accidents = int(np.sum((rank >= self._span) & (self._length > 0)))

    def _edge(self, vertex: int) -> list[int]:
        """The tokens between a vertex and its parent: the first tells siblings apart, the others are noise."""
        noise = np.arange(int(self._length[vertex]), dtype=np.uint64) + np.uint64(vertex << 32)
        tokens = _mixed(noise ^ np.uint64(self._salt)) % np.uint64(self._span)
        if len(tokens):
            tokens[0] = (int(self._rank[vertex]) + self._salt) % self._span
        edge: list[int] = (tokens + np.uint64(RESERVED)).tolist()
        return edge


def _within(symbols: IntArray, vocab_tokens: int) -> bool:
    return len(symbols) == 0 or (int(symbols.min()) >= 0 and int(symbols.max()) < vocab_tokens)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014): neighbouring numbers become unrelated ones."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))

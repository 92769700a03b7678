"""How users put text in front of prompts: what may be written, and what the server then gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mechanism.prompts import IntArray, Prompts, compact

__all__ = ["Padding", "Pen", "SymbolPen", "joined", "with_prompts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """Text put in front of one prompt, and the prompt that is submitted then.

    Attributes
    ----------
    request : whose prompt it is.
    prompt : a single prompt, the text in front included, as the server gets it.
    tokens_added : by how much longer than the request's own it is.
    copied : the text in front is the beginning of this request's prompt; None = it is `fresh`.
    amount : so many tokens of it, or characters where `characters`.
    fresh : a token, a block or a character that no prompt of the batch begins with.
    characters : whether prompts are texts; else they are tokens or blocks.
    block_tokens : length of the blocks that the prompt is written in; None = it is not written in blocks.
    """

    request: int
    prompt: Prompts
    tokens_added: int
    copied: int | None
    amount: int
    fresh: int | str | None = None
    characters: bool = False
    block_tokens: int | None = None


class Pen(Protocol):
    """What can be written in front of the prompts of a batch; None where it cannot be spelled."""

    def copy(self, request: int, copied: int, tokens: int) -> Padding | None:
        """The first `tokens` tokens of another request's prompt, or little more if they end inside something whole."""

    def fresh(self, request: int) -> Padding | None:
        """The shortest text that no prompt of the batch begins with."""


@dataclass(frozen=True, slots=True)
class SymbolPen:
    """Prompts given as symbols.

    `whole_blocks`: they are written as `hash_ids` in a file of requests, so all blocks of a prompt but the last have
    one length. `unused`: the smallest id that no prompt begins with.
    """

    prompts: Prompts
    whole_blocks: bool = False
    unused: int = field(init=False)

    def __post_init__(self) -> None:
        starts = self.prompts.indptr[:-1][np.diff(self.prompts.indptr) > 0]
        begins = set(self.prompts.symbols[starts].tolist())
        object.__setattr__(self, "unused", next(each for each in range(len(begins) + 1) if each not in begins))

    def copy(self, request: int, copied: int, tokens: int) -> Padding | None:
        """See `Pen`."""
        front = self.prompts.take(np.array([copied]))
        if front.lengths is None:
            return self._padding(request, Prompts(front.symbols[:tokens], np.array([0, tokens])), copied, None)
        ends = np.cumsum(front.lengths)
        count = int(np.searchsorted(ends, tokens)) + 1
        lengths = front.lengths[:count].copy()
        if not self.whole_blocks:
            lengths[-1] -= ends[count - 1] - tokens
        return self._padding(request, Prompts(front.symbols[:count], np.array([0, count]), lengths), copied, None)

    def fresh(self, request: int) -> Padding | None:
        """See `Pen`."""
        prompts = self.prompts
        length = 1
        if prompts.lengths is not None and self.whole_blocks:
            own = prompts.take(np.array([request])).lengths
            assert own is not None
            length = int(own[0] if len(own) > 1 else prompts.lengths.max(initial=1))
        lengths = None if prompts.lengths is None else np.array([length], dtype=np.int32)
        front = Prompts(compact(np.array([self.unused])), np.array([0, 1]), lengths)
        return self._padding(request, front, None, self.unused)

    def _padding(self, request: int, front: Prompts, copied: int | None, fresh: int | None) -> Padding | None:
        prompt = joined(front, self.prompts.take(np.array([request])))
        size = None
        if self.whole_blocks and prompt.lengths is not None:
            size = int(prompt.lengths[0])
            if (prompt.lengths[:-1] != size).any() or prompt.lengths[-1] > size:
                return None
        added = int(front.num_tokens[0])
        return Padding(
            request=request,
            prompt=prompt,
            tokens_added=added,
            copied=copied,
            amount=added,
            fresh=fresh,
            block_tokens=size,
        )


def joined(first: Prompts, second: Prompts) -> Prompts:
    """One prompt made of two."""
    symbols = compact(np.concatenate((first.symbols, second.symbols)))
    lengths = None
    if first.lengths is not None and second.lengths is not None:
        lengths = np.concatenate((first.lengths, second.lengths))
    return Prompts(symbols, np.array([0, len(symbols)], dtype=np.int64), lengths)


def with_prompts(prompts: Prompts, changed: dict[int, Prompts]) -> Prompts:
    """The prompts of a batch, some of them (request → a single prompt) exchanged. O(symbols).

    >>> with_prompts(Prompts.from_lists([[1], [2, 3]]), {0: Prompts.from_lists([[9, 1]])}).symbols.tolist()
    [9, 1, 2, 3]
    """
    counts = np.diff(prompts.indptr)
    symbols: list[IntArray] = []
    lengths: list[IntArray] = []
    begin = 0
    for request in [*sorted(changed), len(prompts)]:
        kept = slice(int(prompts.indptr[begin]), int(prompts.indptr[request]))
        symbols.append(prompts.symbols[kept])
        lengths += [] if prompts.lengths is None else [prompts.lengths[kept]]
        if request in changed:
            new = changed[request]
            counts[request] = len(new.symbols)
            symbols.append(new.symbols)
            lengths += [] if new.lengths is None else [new.lengths]
        begin = request + 1
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Prompts(np.concatenate(symbols), indptr, np.concatenate(lengths) if prompts.lengths is not None else None)

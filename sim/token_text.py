"""What requests say, compared without ever being copied or expanded.

A request's text is its prompt followed by its output. Token t of it is a pair (symbol id, offset inside the
symbol); for token ids the offset is always 0. An output that was not recorded is private: no other text can
contain its tokens. Texts answer two questions, both about one position of two texts that agree before it:
under which key a radix tree files what follows, and how far they agree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from typing import Protocol

import numpy as np

from mechanism.prompts import IntArray, Prompts
from sim.requests import RequestTable

__all__ = ["Text", "text_of"]


class Text(Protocol):
    """All texts of one table; i and j are request indices, positions are in tokens from the start of the prompt."""

    def key(self, i: int, position: int) -> Hashable:
        """What text i says in the page (of the size the text was made for) that starts at `position`."""

    def agree_until(self, i: int, j: int, start: int, end: int) -> int:
        """First position in [start, end) where i and j differ, `end` if there is none; they agree before `start`."""


def text_of(requests: RequestTable, page_tokens: int = 1) -> Text:
    """The texts of a table; O(1) beyond what the table already holds, unless outputs are wider than prompts."""
    recorded = requests.output_ids
    if requests.prompts.lengths is None and (recorded is None or recorded.lengths is None):
        return _Tokens(requests, page_tokens)
    return _Blocks(requests, page_tokens)


def _recorded(requests: RequestTable) -> list[bool]:
    """Whose output was recorded."""
    if requests.output_ids is None:
        return [False] * len(requests)
    if requests.output_recorded is None:
        return [True] * len(requests)
    return [bool(each) for each in requests.output_recorded]


def _no_outputs(n: int) -> Prompts:
    return Prompts(np.empty(0, dtype=np.int32), np.zeros(n + 1, dtype=np.int64))


class _Tokens:
    """Texts of single tokens: agreement is a memory comparison of two slices of the symbol arrays."""

    def __init__(self, requests: RequestTable, page_tokens: int) -> None:
        prompts, outputs = requests.prompts, requests.output_ids or _no_outputs(len(requests))
        dtype = np.promote_types(prompts.symbols.dtype, outputs.symbols.dtype)
        self._page, self._dtype, self._size = page_tokens, dtype, dtype.itemsize
        self._prompts, self._prompt_bytes = _views(prompts.symbols, dtype)
        self._outputs, self._output_bytes = _views(outputs.symbols, dtype)
        self._prompt_at: list[int] = prompts.indptr.tolist()
        self._output_at: list[int] = outputs.indptr.tolist()
        self._prompt_tokens: list[int] = requests.prompt_tokens.tolist()
        self._recorded = _recorded(requests)

    def key(self, i: int, position: int) -> Hashable:
        prompt, page = self._prompt_tokens[i], self._page
        if position + page <= prompt:
            at = self._prompt_at[i] + position
            if page == 1:
                return self._prompts[at]
            return self._prompt_bytes[at * self._size : (at + page) * self._size].tobytes()
        if not self._recorded[i]:
            return (i,)
        if page == 1:
            return self._outputs[self._output_at[i] + position - prompt]
        return b"".join(self._piece(i, position, position + page))

    def agree_until(self, i: int, j: int, start: int, end: int) -> int:
        if i == j:
            return end
        first, second = self._prompt_tokens[i], self._prompt_tokens[j]
        if end > first or end > second:
            return self._agree_past_prompt(i, j, start, end)
        size, a, b = self._size, self._prompt_at[i], self._prompt_at[j]
        x = self._prompt_bytes[(a + start) * size : (a + end) * size].tobytes()
        y = self._prompt_bytes[(b + start) * size : (b + end) * size].tobytes()
        return end if x == y else start + self._first_difference(x, y)

    def _agree_past_prompt(self, i: int, j: int, start: int, end: int) -> int:
        for k in (i, j):
            if not self._recorded[k] and end > self._prompt_tokens[k]:
                end = self._prompt_tokens[k]
        if end <= start:
            return start
        x, y = b"".join(self._piece(i, start, end)), b"".join(self._piece(j, start, end))
        return end if x == y else start + self._first_difference(x, y)

    def _piece(self, i: int, start: int, end: int) -> tuple[bytes, bytes]:
        """The bytes of [start, end): those of the prompt and those of the recorded output."""
        prompt, size = self._prompt_tokens[i], self._size
        a, b = self._prompt_at[i], self._output_at[i] - prompt
        head = self._prompt_bytes[(a + start) * size : (a + min(end, prompt)) * size].tobytes()
        tail = self._output_bytes[(b + max(start, prompt)) * size : (b + end) * size].tobytes()
        return (head if start < prompt else b""), (tail if end > prompt else b"")

    def _first_difference(self, x: bytes, y: bytes) -> int:
        return int((np.frombuffer(x, self._dtype) != np.frombuffer(y, self._dtype)).argmax())


class _Blocks:
    """Texts of symbols with lengths; nodes may begin and end inside a symbol."""

    def __init__(self, requests: RequestTable, page_tokens: int) -> None:
        prompts = requests.prompts
        outputs = requests.output_ids or _no_outputs(len(requests))
        self._page = page_tokens
        self._prompts, self._outputs = _Rows(prompts), _Rows(outputs)
        self._prompt_tokens: list[int] = requests.prompt_tokens.tolist()
        self._recorded = _recorded(requests)

    def key(self, i: int, position: int) -> Hashable:
        page = self._page
        if page == 1:
            return self._token(i, position)
        symbol, offset, left = self._symbol(i, position)
        if symbol is None:
            return (i,)
        if left >= page:
            return symbol, offset, None  # no page of several symbols holds a None
        return tuple(self._token(i, position + step) for step in range(page))

    def agree_until(self, i: int, j: int, start: int, end: int) -> int:
        if i == j:
            return end
        position = start
        while position < end:
            mine, my_offset, my_left = self._symbol(i, position)
            other, other_offset, other_left = self._symbol(j, position)
            if mine is None or mine != other or my_offset != other_offset:
                return position
            position += min(my_left, other_left)
        return min(position, end)

    def _token(self, i: int, position: int) -> Hashable:
        symbol, offset, _ = self._symbol(i, position)
        if symbol is None:
            return (i,)
        return (symbol, offset) if offset else symbol

    def _symbol(self, i: int, position: int) -> tuple[int | None, int, int]:
        """The symbol at `position` (None = private), the offset in it, and its tokens from there on."""
        prompt = self._prompt_tokens[i]
        if position < prompt:
            return self._prompts.symbol(i, position)
        if self._recorded[i]:
            return self._outputs.symbol(i, position - prompt)
        return None, 0, 0


class _Rows:
    """Symbols of `Prompts` by token position, found by bisection of the cumulative lengths."""

    def __init__(self, prompts: Prompts) -> None:
        lengths = prompts.lengths
        self._unit = lengths is None
        self._ids, _ = _views(prompts.symbols, prompts.symbols.dtype)
        self._rows: list[int] = prompts.indptr.tolist()
        if lengths is not None:
            self._ends = np.cumsum(lengths, dtype=np.int64).data

    def symbol(self, i: int, position: int) -> tuple[int, int, int]:
        row = self._rows[i]
        if self._unit:
            return self._ids[row + position], 0, 1
        ends = self._ends
        at = position + (ends[row - 1] if row else 0)
        k = bisect_right(ends, at, row, self._rows[i + 1])
        begin = ends[k - 1] if k else 0
        return self._ids[k], at - begin, ends[k] - at


def _views(symbols: IntArray, dtype: np.dtype[np.integer]) -> tuple[memoryview, memoryview]:
    """The array as a view of items and as a view of bytes; a copy only where `dtype` is another."""
    items = np.ascontiguousarray(symbols, dtype=dtype).data
    return items, items.cast("B")

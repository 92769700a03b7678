"""Prompts that grow row by row in compact memory: 4 bytes a symbol where the ids fit, 8 where they do not."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from mechanism.prompts import Prompts
from sim.json_rows import Row, short

__all__ = ["SymbolBuffer"]


class SymbolBuffer:
    """Collects the prompts of a file."""

    def __init__(self) -> None:
        self._symbols = array("i")
        self._lengths: array[int] | None = None
        self._ends = array("q", [0])

    def append(self, ids: Sequence[int], row: Row, key: str) -> None:
        """One prompt of single tokens; `row` and `key` are for the complaint about ids beyond 64 bits."""
        try:
            self._symbols.extend(ids)
        except OverflowError:
            if self._symbols.typecode == "q":
                widest = max(ids, key=abs)
                raise row.problem(key, short(widest), "ids that fit 64 bits") from None
            self._symbols = array("q", self._symbols[: self._ends[-1]])
            self.append(ids, row, key)
            return
        self._ends.append(len(self._symbols))

    def append_blocks(self, ids: Sequence[int], input_length: int, block_tokens: int, row: Row) -> None:
        """One prompt of blocks; the last one holds what is left of `input_length`, from 1 token to a whole block."""
        if input_length >= 2**31:
            raise row.problem("input_length", str(input_length), "below 2,147,483,648 tokens")
        if len(ids) != -(-input_length // block_tokens):
            needed = -(-input_length // block_tokens)
            found = f"{len(ids)} ids for {input_length} tokens in blocks of {block_tokens}"
            raise row.problem("hash_ids", found, f"{needed} ids")
        whole = [block_tokens] * (len(ids) - 1)
        self.append_symbols(ids, [*whole, input_length - block_tokens * len(whole)] if ids else [], row, "hash_ids")

    def append_symbols(self, ids: Sequence[int], lengths: Sequence[int], row: Row, key: str) -> None:
        """One prompt of symbols that are `lengths` tokens long, each at least 1."""
        if self._lengths is None:
            self._lengths = array("i")
        self.append(ids, row, key)
        try:
            self._lengths.extend(lengths)
        except OverflowError:
            raise row.problem(key, str(max(lengths)), "below 2,147,483,648 tokens") from None

    def prompts(self) -> Prompts:
        """What was collected."""
        dtype = np.int32 if self._symbols.typecode == "i" else np.int64
        lengths = None if self._lengths is None else np.frombuffer(self._lengths, dtype=np.int32)
        return Prompts(np.frombuffer(self._symbols, dtype=dtype), np.frombuffer(self._ends, dtype=np.int64), lengths)

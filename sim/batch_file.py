"""The `.jsonl` of requests: one batch for `auction`, a custom workload for `simulate` (DESIGN.md, Files).

A row has `bid` ≥ 0 and one of `tokens`, `prompt`, `hash_ids` (with `input_length` and `block_tokens`); the same one
in every row. Optional: `id` (default: the line number), `user` (default: the id), `value` (default: the bid),
`arrival_s`, `output_tokens`, `output_ids`, `session`, `turn`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mechanism.prompts import FloatArray, IntArray, Prompts
from sim.errors import ScenarioError
from sim.json_rows import Row, read_rows, short
from sim.symbol_buffer import SymbolBuffer
from sim.tokenizer import load_tokenizer

__all__ = ["BatchFile", "read_batch"]

BoolArray = npt.NDArray[np.bool_]

_PROMPT_KEYS = ("tokens", "prompt", "hash_ids")
_BLOCK_KEYS = ("input_length", "block_tokens")
_OTHER_KEYS = ("id", "user", "bid", "value", "arrival_s", "output_tokens", "output_ids", "session", "turn")
_KNOWN = frozenset((*_PROMPT_KEYS, *_BLOCK_KEYS, *_OTHER_KEYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFile:
    """n requests in file order, one entry a request.

    Attributes
    ----------
    prompts : the prompts; empty ones are possible.
    request_id, user : names; ids are unique.
    bid, value : money; `has_value` says where the file states a value, elsewhere it is the bid.
    arrival_s : recorded arrivals in seconds, or None.
    output_tokens : recorded output lengths, 0 where `has_output` is false.
    output_ids : recorded outputs, empty where `has_output_ids` is false.
    session, turn : names, and turn numbers from 0, or None; a row without a session is one of its own.
    lines : line of each request in the file, from 1.
    """

    prompts: Prompts
    request_id: tuple[str, ...]
    user: tuple[str, ...]
    bid: FloatArray
    value: FloatArray
    has_value: BoolArray
    arrival_s: FloatArray | None
    output_tokens: IntArray
    has_output: BoolArray
    output_ids: Prompts
    has_output_ids: BoolArray
    session: tuple[str, ...] | None
    turn: IntArray | None
    lines: IntArray

    def __len__(self) -> int:
        return len(self.request_id)


def read_batch(path: str | Path, tokenizer: str | None = None, block_tokens: int | None = None) -> BatchFile:
    """Read a file of requests.

    Parameters
    ----------
    tokenizer : how `prompt` texts become symbols, see `sim.tokenizer`.
    block_tokens : length of a `hash_ids` block where a row does not say.

    Raises
    ------
    ScenarioError
        Anything that is not the format, with file, line and key; an empty file.
    """
    columns = _Columns(load_tokenizer(tokenizer), block_tokens)
    for row in read_rows(path):
        columns.append(row)
    if not columns.ids:
        raise ScenarioError(str(path), "no requests", "at least one line")
    return columns.finish(str(path))


class _Columns:
    """The columns of a batch file, growing row by row in compact arrays."""

    def __init__(self, encode: Callable[[str], Sequence[int]], block_tokens: int | None) -> None:
        self._encode, self._block_tokens = encode, block_tokens
        self._first: Row | None = None
        self._kind = ""
        self._prompts, self._outputs = SymbolBuffer(), SymbolBuffer()
        self.ids: dict[str, int] = {}
        self._users: list[str] = []
        self._known_users: dict[str, str] = {}
        self._bid, self._value, self._arrival = array("d"), array("d"), array("d")
        self._output_tokens = array("q")
        self._has_value, self._has_output, self._has_output_ids = bytearray(), bytearray(), bytearray()
        self._sessions: list[str | None] = []
        self._turns: list[int | None] = []

    def append(self, row: Row) -> None:
        """Check one row and take it in."""
        row.check_keys(_KNOWN)
        name = row.word("id") if "id" in row else str(row.line)
        if name in self.ids:
            raise row.problem("id", f'"{name}", which is on line {self.ids[name]} too', "an id of its own")
        self.ids[name] = row.line
        user = row.word("user") if "user" in row else name
        self._users.append(self._known_users.setdefault(user, user))
        bid = row.number("bid")
        self._bid.append(bid)
        self._has_value.append("value" in row)
        self._value.append(row.number("value") if "value" in row else bid)
        self._append_prompt(row)
        self._append_arrival(row)
        self._append_output(row)
        self._sessions.append(row.word("session") if "session" in row else None)
        self._turns.append(row.integer("turn") if "turn" in row else None)
        if "turn" in row and "session" not in row:
            raise row.problem("turn", "a turn without a session", "the key session beside it")
        self._first = self._first or row

    def _append_prompt(self, row: Row) -> None:
        kinds = [key for key in _PROMPT_KEYS if key in row]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise row.problem("tokens", found, "exactly one of tokens, prompt, hash_ids")
        kind = kinds[0]
        if self._first is not None and kind != self._kind:
            raise row.problem(kind, kind, f"{self._kind}, as on line {self._first.line}: one kind of prompt per file")
        self._kind = kind
        if kind == "hash_ids":
            self._append_blocks(row)
            return
        for key in _BLOCK_KEYS:
            if key in row:
                raise row.problem(key, f"{key} beside {kind}", "it only beside hash_ids")
        self._prompts.append(self._text(row) if kind == "prompt" else row.integers("tokens"), row, kind)

    def _append_blocks(self, row: Row) -> None:
        if "block_tokens" not in row and self._block_tokens is not None:
            size = self._block_tokens
        else:
            size = row.integer("block_tokens", least=1)
        self._prompts.append_blocks(row.integers("hash_ids"), row.integer("input_length"), size, row)

    def _text(self, row: Row) -> Sequence[int]:
        text = row.get("prompt")
        if not isinstance(text, str):
            raise row.problem("prompt", short(text), "a text")
        try:
            return self._encode(text)
        except UnicodeEncodeError:
            raise row.problem("prompt", "half a surrogate pair", "text that UTF-8 can spell") from None

    def _append_arrival(self, row: Row) -> None:
        if self._first is not None and ("arrival_s" in row) != ("arrival_s" in self._first):
            found = "an arrival time" if "arrival_s" in row else "no arrival time"
            raise row.problem("arrival_s", found, f"the same as line {self._first.line}: in every row or in none")
        if "arrival_s" in row:
            self._arrival.append(row.number("arrival_s"))

    def _append_output(self, row: Row) -> None:
        ids = row.integers("output_ids") if "output_ids" in row else []
        self._outputs.append(ids, row, "output_ids")
        self._has_output_ids.append("output_ids" in row)
        self._has_output.append("output_tokens" in row or "output_ids" in row)
        count = row.integer("output_tokens") if "output_tokens" in row else len(ids)
        if "output_ids" in row and count != len(ids):
            raise row.problem("output_ids", f"{len(ids)} ids", f"as many as output_tokens, which is {count}")
        self._output_tokens.append(count)

    def finish(self, file: str) -> BatchFile:
        """The whole file; sums are checked here."""
        bid, value = np.frombuffer(self._bid), np.frombuffer(self._value)
        for key, column in (("bid", bid), ("value", value)):
            with np.errstate(over="ignore"):
                total = float(column.sum() * len(column))
            if not math.isfinite(total):
                raise ScenarioError(f"{file}: {key}", "a sum that overflows", f"a finite sum over {len(bid)} requests")
        named = any(session is not None for session in self._sessions)
        ids = tuple(self.ids)
        session = tuple(s or i for s, i in zip(self._sessions, ids, strict=True)) if named else None
        return BatchFile(
            prompts=self._prompts.prompts(),
            request_id=ids,
            user=tuple(self._users),
            bid=bid,
            value=value,
            has_value=_flags(self._has_value),
            arrival_s=np.frombuffer(self._arrival) if len(self._arrival) else None,
            output_tokens=np.frombuffer(self._output_tokens, dtype=np.int64),
            has_output=_flags(self._has_output),
            output_ids=self._outputs.prompts(),
            has_output_ids=_flags(self._has_output_ids),
            session=session,
            turn=None if session is None else self._numbered(session),
            lines=np.array(list(self.ids.values()), dtype=np.int64),
        )

    def _numbered(self, session: tuple[str, ...]) -> IntArray:
        """Stated turns; elsewhere the number of earlier rows of the session."""
        seen: dict[str, int] = {}
        turns = []
        for name, turn in zip(session, self._turns, strict=True):
            turns.append(seen.get(name, 0) if turn is None else turn)
            seen[name] = seen.get(name, 0) + 1
        return np.array(turns, dtype=np.int64)


def _flags(flags: bytearray) -> BoolArray:
    return np.frombuffer(flags, dtype=np.bool_)

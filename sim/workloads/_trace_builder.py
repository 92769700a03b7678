"""Collecting the records of a trace, row by row, in compact arrays: what every reader appends to."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.json_rows import Row
from sim.requests import Demand
from sim.symbol_buffer import SymbolBuffer
from sim.workloads._clock import date_clock, trace_clock

__all__ = ["TraceBuilder", "ids_of"]


class TraceBuilder:
    """The records of one trace, in the order in which its reader finds them.

    For every record the reader appends one prompt, by `blocks`, `symbols`, `tokens` or `private`, and then calls `add`
    with the rest. Zero lengths are taken in: the trace's options decide about them.

    Ids of blocks and tokens are 0 or more; private texts get negative ones, each used once.

    Parameters
    ----------
    path : the file, for messages.
    time_key : the key or column of arrival times; None = the format has no clock.
    unit_s : seconds per unit of time; None = dates, as integers in ns.
    one_clock : whether the file is one recording, so that a step back in time deserves a warning.
    """

    def __init__(
        self, path: Path, time_key: str | None = None, unit_s: float | None = 1.0, *, one_clock: bool = True
    ) -> None:
        self._path, self._time_key, self._unit_s, self._one_clock = path, time_key, unit_s, one_clock
        self._prompts, self._outputs = SymbolBuffer(), SymbolBuffer()
        self._times: array[Any] = array("q" if unit_s is None else "d")
        self._lines, self._output_tokens = array("q"), array("q")
        self._columns: defaultdict[str, list[Any]] = defaultdict(list)
        self._num_private = 0
        self._has_output_ids = False

    # ---- one prompt

    def blocks(self, row: Row, key: str, input_tokens: int, block_tokens: int) -> None:
        """A prompt of blocks of one size, of which the last holds what the others leave: from 1 token to all."""
        self._prompts.append_blocks(ids_of(row, key), input_tokens, block_tokens, row)

    def symbols(self, row: Row, key: str, ids: Sequence[int], lengths: Sequence[int]) -> None:
        """A prompt of symbols with lengths in tokens, each at least 1; see `private_id` for private ones."""
        self._prompts.append_symbols(ids, lengths, row, key)

    def tokens(self, row: Row, key: str, ids: Sequence[int]) -> None:
        """A prompt of token ids."""
        self._prompts.append(ids, row, key)

    def private(self, row: Row, key: str, input_tokens: int) -> None:
        """A prompt that shares nothing with any other."""
        ids = [self.private_id()] if input_tokens else []
        self._prompts.append_symbols(ids, [input_tokens] * len(ids), row, key)

    def private_id(self) -> int:
        """The id of a symbol that nobody else has."""
        self._num_private += 1
        return -self._num_private

    # ---- the rest of the record

    def output_ids(self, row: Row, key: str, ids: Sequence[int], lengths: Sequence[int] | None = None) -> None:
        """The record's output, symbol by symbol; call it for every record or for none."""
        self._has_output_ids = True
        if lengths is None:
            self._outputs.append(ids, row, key)
        else:
            self._outputs.append_symbols(ids, lengths, row, key)

    def add(self, row: Row, output_tokens: int, time: float | None = None, **columns: Any) -> None:
        """Close the record.

        Parameters
        ----------
        time : its arrival on the trace's clock.
        columns : what `Demand` records besides: request_id, session, user, value, bid, think_ns, cached_tokens; the
            same ones for every record.
        """
        if time is not None:
            self._times.append(time)
        self._lines.append(row.line)
        self._output_tokens.append(output_tokens)
        for name, value in columns.items():
            self._columns[name].append(value)

    # ---- the whole trace

    @property
    def num_records(self) -> int:
        """Records so far."""
        return len(self._lines)

    def demand(self, output_tokens: IntArray | None = None, warnings: Sequence[str] = ()) -> Demand:
        """Everything as recorded; a request is called after its line unless the reader named it.

        `output_tokens` replaces what `add` was told.
        """
        lines = np.frombuffer(self._lines, dtype=np.int64)
        n, columns = len(lines), self._columns
        assert all(len(column) == n for column in columns.values()), {name: len(c) for name, c in columns.items()}
        arrival_ns, said = self._arrivals(lines)
        names = columns.get("request_id")
        return Demand(
            prompts=self._prompts.prompts(),
            output_tokens=np.frombuffer(self._output_tokens, dtype=np.int64)
            if output_tokens is None
            else output_tokens,
            cluster=np.arange(n),
            request_id=tuple(map(str, lines.tolist())) if names is None else self._unique(names, lines),
            session=tuple(columns["session"]) if "session" in columns else None,
            arrival_ns=arrival_ns,
            think_ns=np.array(columns["think_ns"], dtype=np.int64) if "think_ns" in columns else None,
            user=tuple(columns["user"]) if "user" in columns else None,
            value=np.array(columns["value"], dtype=np.float64) if "value" in columns else None,
            bid=np.array(columns["bid"], dtype=np.float64) if "bid" in columns else None,
            output_ids=self._outputs.prompts() if self._has_output_ids else None,
            cached_tokens=np.array(columns["cached_tokens"]) if "cached_tokens" in columns else None,
            warnings=(*warnings, *said),
        )

    def _arrivals(self, lines: IntArray) -> tuple[IntArray | None, tuple[str, ...]]:
        if self._time_key is None:
            return None, ()
        where = f"{self._path}:{{line}}: {self._time_key}"
        said: tuple[str, ...] = ()
        if self._unit_s is None:
            arrival_ns = date_clock(np.frombuffer(self._times, dtype=np.int64), lines, where)
        else:
            arrival_ns, said = trace_clock(np.frombuffer(self._times), self._unit_s, lines, where)
        back = np.flatnonzero(np.diff(arrival_ns) < 0)
        if not self._one_clock or not len(back):
            return arrival_ns, said
        times = "once" if len(back) == 1 else f"{len(back):,} times"
        here = int(back[0])
        step = f"first on line {lines[here + 1]}, from {arrival_ns[here] / 1e9:g} s to {arrival_ns[here + 1] / 1e9:g} s"
        warning = (
            f"arrival times were not sorted: the clock steps back {times}, {step}; now they are, ties as in the file"
        )
        return arrival_ns, (*said, warning)

    def _unique(self, names: Sequence[str], lines: IntArray) -> tuple[str, ...]:
        seen: dict[str, int] = {}
        for position, name in enumerate(names):
            first = seen.setdefault(name, position)
            if first != position:
                found = f'the id "{name}", which is on line {lines[first]} too'
                raise ScenarioError(f"{self._path}:{lines[position]}", found, "an id of its own")
        return tuple(names)


def ids_of(row: Row, key: str) -> list[int]:
    """The ids under `key`, each 0 or more."""
    ids = row.integers(key)
    if ids and min(ids) < 0:
        raise row.problem(key, str(min(ids)), "ids of 0 or more")
    return ids

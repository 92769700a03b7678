"""Any table of requests: you say which column is what, and in which unit times are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict

from sim.csv_rows import TextRow, read_csv
from sim.errors import ScenarioError
from sim.json_rows import read_rows
from sim.parameters import STRICT
from sim.requests import Demand
from sim.workloads._dates import date_ns
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Table"]

_UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The names of the columns.

    Attributes
    ----------
    prompt_tokens, output_tokens : lengths.
    arrival : when the request came, in `time_unit`.
    id : unique names; default: the line.
    session : which conversation it belongs to; an empty cell (or null) is a conversation of its own.
    user, value, bid : its owner, and what it is worth and bids.
    cached_tokens : what the recording server had cached; `describe` puts it beside what an unbounded cache would have.
    """

    prompt_tokens: str
    output_tokens: str
    arrival: str | None = None
    id: str | None = None
    session: str | None = None
    user: str | None = None
    value: str | None = None
    bid: str | None = None
    cached_tokens: str | None = None

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    def names(self) -> list[str]:
        """Those that are given."""
        return [name for each in fields(self) if (name := getattr(self, each.name)) is not None]


@dataclass(frozen=True, kw_only=True)
class Table(TraceOptions):
    """A CSV with a header, or JSON lines (`.jsonl`), plain or `.gz`; columns that are not named are ignored.

    Attributes
    ----------
    columns : which column is what.
    time_unit : of `columns.arrival`: s, ms, us, ns, or datetime (UTC). It is never guessed.
    sharing : what prompts share: private = nothing, session = a turn repeats its session's previous prompt and answer
        if it is at least as long; turns follow one another in time, ties as in the file.
    """

    columns: TableColumns
    time_unit: Literal["s", "ms", "us", "ns", "datetime"] | None = None
    sharing: Literal["private", "session"] = "private"

    def __post_init__(self) -> None:
        TraceOptions.__post_init__(self)
        if self.columns.arrival is not None and self.time_unit is None:
            expected = "s, ms, us, ns or datetime: a unit is not guessed"
            raise ScenarioError("time_unit", "nothing", expected, f"Say how {self.columns.arrival} counts.")
        if self.columns.arrival is None and self.time_unit is not None:
            raise ScenarioError("time_unit", self.time_unit, "columns.arrival beside it")
        if self.sharing == "session" and self.columns.session is None:
            raise ScenarioError("sharing", "session", "columns.session beside it")

    def recorded(self) -> frozenset[str]:
        """What has a column."""
        columns = self.columns
        known = {"users": columns.user, "values": columns.value, "bids": columns.bid, "arrivals": columns.arrival}
        return frozenset(key for key, column in known.items() if column is not None)

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(rows), with sharing O(turns · rows)."""
        columns = self.columns
        unit_s = None if self.time_unit == "datetime" else _UNITS_S[self.time_unit or "s"]
        trace = TraceBuilder(self.path, columns.arrival, unit_s)
        talks: dict[str, _Talk] = {}
        rows, warnings = self._in_turn(_rows(self.path, columns.names()))
        for row in rows:
            prompt, output = row.integer(columns.prompt_tokens), row.integer(columns.output_tokens)
            session = _session(row, columns.session)
            if self.sharing == "private" or session is None:
                trace.private(row, columns.prompt_tokens, prompt)
            else:
                talks.setdefault(session, _Talk()).go_on(trace, row, prompt, output)
            trace.add(row, output, self._time(row), **_rest(row, columns))
        return self.apply(trace.demand(warnings=warnings))

    def _in_turn(self, rows: Iterator[TextRow]) -> tuple[Iterable[TextRow], list[str]]:
        """The rows by time where turns build on one another, and a warning if the file has another order."""
        if self.sharing == "private" or self.columns.arrival is None:
            return rows, []
        kept = list(rows)
        times = [self._time(row) or 0 for row in kept]
        late = next((k for k in range(1, len(kept)) if times[k] < times[k - 1]), None)
        if late is None:
            return kept, []
        order = sorted(range(len(kept)), key=times.__getitem__)
        warning = f"arrival times were not sorted: the clock steps back on line {kept[late].line}"
        return [kept[k] for k in order], [f"{warning}; now they are, and turns are chained so, ties as in the file"]

    def _time(self, row: TextRow) -> float | None:
        if self.columns.arrival is None:
            return None
        return date_ns(row, self.columns.arrival) if self.time_unit == "datetime" else row.number(self.columns.arrival)


class _Talk:
    """A conversation so far, one private symbol for every piece that was new."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._lengths: list[int] = []

    def go_on(self, trace: TraceBuilder, row: TextRow, prompt: int, output: int) -> None:
        """The next turn's prompt and answer."""
        said = sum(self._lengths)
        if prompt < said:  # compacted, or a new thread
            self._ids, self._lengths, said = [], [], 0
        self._say(trace, prompt - said)
        trace.symbols(row, "prompt_tokens", self._ids, self._lengths)
        answered = len(self._ids)
        self._say(trace, output)
        trace.output_ids(row, "output_tokens", self._ids[answered:], self._lengths[answered:])

    def _say(self, trace: TraceBuilder, tokens: int) -> None:
        if tokens:
            self._ids.append(trace.private_id())
            self._lengths.append(tokens)


def _rows(path: Path, names: list[str]) -> Iterator[TextRow]:
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return (TextRow(row.data, row.file, row.line) for row in read_rows(path))
    return read_csv(path, names)


def _session(row: TextRow, column: str | None) -> str | None:
    """The conversation that a row names; an empty cell names none, and neither does null."""
    if column is None or row.get(column) is None:
        return None
    return row.word(column) if row.word(column).strip() else None


def _rest(row: TextRow, columns: TableColumns) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    if columns.session is not None:
        rest["session"] = _session(row, columns.session) or f"(alone on line {row.line})"
    for name, column in (("request_id", columns.id), ("user", columns.user)):
        if column is not None:
            rest[name] = row.word(column)
    if columns.user is not None and not rest["user"].strip():
        raise row.problem(columns.user, "an empty cell", "the name of a user")
    for name, column in (("value", columns.value), ("bid", columns.bid), ("cached_tokens", columns.cached_tokens)):
        if column is not None:
            rest[name] = row.number(column)
    return rest

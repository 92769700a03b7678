"""AIPerf's session traces (agentic code): every row but a session's first tells only what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sim.json_rows import Row, read_rows
from sim.quantities import LengthTokens, Ratio
from sim.requests import Demand
from sim.workloads._session_starts import session_starts
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder, ids_of

__all__ = ["Aiperf"]

_KEYS = frozenset(
    ("session_id", "input_length", "output_length", "hash_ids", "timestamp", "delay", "group_id", "is_restart")
)


@dataclass(slots=True)
class _Session:
    """What has been said in a session so far, symbol by symbol, and the earliest its next turn can come."""

    clock_ms: float
    ids: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Aiperf(TraceOptions):
    """One turn a line: `session_id`, lengths and block hashes of the *new* text, `timestamp` or `delay` in ms.

    A turn's prompt is everything before it, answers included, and the new text. Only first turns have a time; later
    ones come `delay` after the answer before, so the default is `arrivals: sessions`.

    Attributes
    ----------
    block_tokens : tokens of a block.
    session_rate : sessions that start per second, as a Poisson process; null = at their recorded times.
    """

    block_tokens: LengthTokens = 512
    session_rate: Ratio | None = None
    needs: ClassVar[frozenset[str]] = frozenset(("session_id", "input_length", "output_length", "hash_ids"))
    reads: ClassVar[str] = "times and delays in ms, blocks of 512 tokens, new text only"

    def recorded(self) -> frozenset[str]:
        """Sessions: pauses between turns, but no arrivals."""
        return frozenset({"sessions"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Read the file; O(blocks of whole prompts)."""
        trace = TraceBuilder(self.path, "timestamp", 1e-3, one_clock=False)
        sessions: dict[str, _Session] = {}
        for row in read_rows(self.path):
            row.check_keys(_KEYS)
            name = row.word("session_id")
            delay_ms = 0.0 if name not in sessions else row.number("delay")
            if name not in sessions:
                sessions[name] = _Session(row.number("timestamp"))
            self._add_turn(trace, row, name, sessions[name], delay_ms)
        demand = trace.demand(warnings=[_NO_TIMES] if len(sessions) < trace.num_records else [])
        return self.apply(session_starts(demand, self.session_rate, rng_stream))

    def _add_turn(self, trace: TraceBuilder, row: Row, name: str, session: _Session, delay_ms: float) -> None:
        ids, total, output = ids_of(row, "hash_ids"), row.integer("input_length"), row.integer("output_length")
        whole, rest = divmod(total, self.block_tokens)
        if len(ids) != whole + (rest > 0):
            found = f"{len(ids)} ids for {total} tokens in blocks of {self.block_tokens}"
            raise row.problem("hash_ids", found, f"{whole + (rest > 0)} ids")
        session.ids.extend(ids)
        session.lengths.extend([self.block_tokens] * whole + [rest] * (rest > 0))
        trace.symbols(row, "hash_ids", session.ids, session.lengths)
        answer = [trace.private_id()] if output else []
        trace.output_ids(row, "output_length", answer, [output] * len(answer))
        session.clock_ms += delay_ms
        trace.add(row, output, session.clock_ms, session=name, think_ns=round(delay_ms * 1e6))
        session.ids.extend(answer)
        session.lengths.extend([output] * len(answer))


_NO_TIMES = "only first turns have a recorded time: later ones are placed by their delays, as if answers took no time"

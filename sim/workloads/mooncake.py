"""Mooncake's traces (FAST'25): production requests with the prefix-chained hashes of their prompts' blocks."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from sim.errors import ScenarioError
from sim.json_rows import Row, read_rows
from sim.requests import Demand
from sim.symbol_buffer import SymbolBuffer
from sim.workloads._clock import trace_clock

__all__ = ["Mooncake"]

_KEYS = frozenset(("timestamp", "input_length", "output_length", "hash_ids"))


@dataclass(frozen=True, kw_only=True)
class Mooncake:
    """One request a line: `timestamp` in ms, `input_length` and `output_length` in tokens, `hash_ids` of its blocks.

    The last block holds what the others leave of the input, from 1 token to a whole block. Records without input or
    output are dropped and counted. A request's id is its line. Every request is a cluster of its own: the trace
    names no users and no sessions.

    Attributes
    ----------
    path : the file.
    block_tokens : tokens of a block.
    num_requests : keep the first so many requests of the window; null = all.
    start_s, end_s : keep the requests that arrive in [start_s, end_s), and count time from start_s; null = no end.
    """

    path: Path
    block_tokens: PositiveInt = 512
    num_requests: PositiveInt | None = None
    start_s: NonNegativeFloat = 0.0
    end_s: PositiveFloat | None = None

    def __post_init__(self) -> None:
        if self.end_s is not None and self.end_s <= self.start_s:
            raise ScenarioError("end_s", str(self.end_s), f"more than start_s, which is {self.start_s}")

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(blocks)."""
        blocks, times = SymbolBuffer(), array("d")
        outputs, lines = array("q"), array("q")
        dropped = {"empty prompt": 0, "zero output": 0}
        for row in read_rows(self.path):
            row.check_keys(_KEYS)
            time, outcome = row.number("timestamp"), row.integer("output_length")
            if row.integer("input_length") == 0 or outcome == 0:
                dropped["zero output" if outcome == 0 else "empty prompt"] += 1
                continue
            self._append_prompt(row, blocks)
            times.append(time)
            outputs.append(outcome)
            lines.append(row.line)
        line = np.frombuffer(lines, dtype=np.int64)
        arrival_ns, warnings = trace_clock(np.frombuffer(times), 1e-3, line, f"{self.path}:{{line}}: timestamp")
        start_ns = round(self.start_s * 1e9)
        end_ns = np.inf if self.end_s is None else round(self.end_s * 1e9)
        kept = np.flatnonzero((arrival_ns >= start_ns) & (arrival_ns < end_ns))[: self.num_requests]
        prompts = blocks.prompts()
        return Demand(
            prompts=prompts if len(kept) == len(prompts) else prompts.take(kept),
            output_tokens=np.frombuffer(outputs, dtype=np.int64)[kept],
            cluster=np.arange(len(kept)),
            request_id=tuple(map(str, line[kept].tolist())),
            arrival_ns=arrival_ns[kept] - start_ns,
            dropped={reason: number for reason, number in dropped.items() if number},
            warnings=warnings,
        )

    def _append_prompt(self, row: Row, blocks: SymbolBuffer) -> None:
        blocks.append_blocks(row.integers("hash_ids"), row.integer("input_length"), self.block_tokens, row)

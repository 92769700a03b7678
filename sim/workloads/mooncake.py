"""Mooncake's traces (FAST'25): production requests with the prefix-chained hashes of their prompts' blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.json_rows import read_rows
from sim.quantities import LengthTokens
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Mooncake"]


@dataclass(frozen=True, kw_only=True)
class Mooncake(TraceOptions):
    """One request a line: `timestamp` in ms, `input_length` and `output_length` in tokens, `hash_ids` of its blocks.

    The last block holds what the others leave of the input, from 1 token to a whole block. A request's id is its line.
    Every request is a cluster of its own: the trace names no users and no sessions.

    Attributes
    ----------
    block_tokens : tokens of a block.
    """

    block_tokens: LengthTokens = 512
    needs: ClassVar[frozenset[str]] = frozenset(("timestamp", "input_length", "output_length", "hash_ids"))
    reads: ClassVar[str] = "times in ms, blocks of 512 tokens"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(blocks)."""
        trace = TraceBuilder(self.path, "timestamp", 1e-3)
        for row in read_rows(self.path):
            row.check_keys(self.needs)
            trace.blocks(row, "hash_ids", row.integer("input_length"), self.block_tokens)
            trace.add(row, row.integer("output_length"), row.number("timestamp"))
        return self.apply(trace.demand())

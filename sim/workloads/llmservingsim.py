"""LLMServingSim's length traces: JSON lines without token ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.json_rows import read_rows
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Llmservingsim"]


@dataclass(frozen=True, kw_only=True)
class Llmservingsim(TraceOptions):
    """One request a line: `arrival_time_ns`, `input_toks`, `output_toks`; every prompt is private.

    Files with token ids are read by `sharegpt-ids`.
    """

    needs: ClassVar[frozenset[str]] = frozenset(("input_toks", "output_toks", "arrival_time_ns"))
    reads: ClassVar[str] = "times in ns, no prefixes"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(rows)."""
        trace = TraceBuilder(self.path, "arrival_time_ns", 1e-9)
        for row in read_rows(self.path):
            if "input_tok_ids" in row:
                raise row.problem("input_tok_ids", "token ids", "lengths only", "Write kind: sharegpt-ids.")
            row.check_keys(self.needs)
            trace.private(row, "input_toks", row.integer("input_toks"))
            trace.add(row, row.integer("output_toks"), row.number("arrival_time_ns"))
        return self.apply(trace.demand())

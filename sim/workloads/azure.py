"""Azure's LLM inference traces (Splitwise, ISCA'24): dates, prompt lengths and output lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.csv_rows import read_csv
from sim.requests import Demand
from sim.workloads._dates import date_ns
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Azure"]

_TIME, _PROMPT, _OUTPUT = "TIMESTAMP", "ContextTokens", "GeneratedTokens"


@dataclass(frozen=True, kw_only=True)
class Azure(TraceOptions):
    """A CSV with TIMESTAMP (a date, to 100 ns), ContextTokens and GeneratedTokens.

    Times count from the earliest. The trace says nothing about what prompts share: every prompt is private.
    """

    needs: ClassVar[frozenset[str]] = frozenset((_TIME, _PROMPT, _OUTPUT))
    reads: ClassVar[str] = "dates, no prefixes"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(rows)."""
        trace = TraceBuilder(self.path, _TIME, None)
        for row in read_csv(self.path, (_TIME, _PROMPT, _OUTPUT)):
            trace.private(row, _PROMPT, row.integer(_PROMPT))
            trace.add(row, row.integer(_OUTPUT), date_ns(row, _TIME))
        return self.apply(trace.demand())

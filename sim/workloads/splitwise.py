"""The length traces of Splitwise's and Vidur's simulators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.csv_rows import csv_header, read_csv
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Splitwise"]

#: Vidur's names, and those of the Splitwise simulator.
_TIME = ("arrived_at", "arrival_timestamp")
_PROMPT = ("num_prefill_tokens", "prompt_size")
_OUTPUT = ("num_decode_tokens", "token_size")


@dataclass(frozen=True, kw_only=True)
class Splitwise(TraceOptions):
    """A CSV with arrived_at (in s), num_prefill_tokens and num_decode_tokens.

    The names of the Splitwise simulator do as well: arrival_timestamp, prompt_size, token_size. A file without times
    has no clock. Every prompt is private: lengths are all there is.
    """

    needs: ClassVar[frozenset[str]] = frozenset((_PROMPT[0], _OUTPUT[0]))
    reads: ClassVar[str] = "times in s, no prefixes"

    def recorded(self) -> frozenset[str]:
        """Arrivals, where the file has them."""
        return frozenset({"arrivals"} if set(_TIME) & set(csv_header(self.path)) else ())

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(rows)."""
        header = csv_header(self.path)
        prompt, output = (new if old not in header and new in header else old for old, new in (_PROMPT, _OUTPUT))
        time = next((name for name in _TIME if name in header), None)
        trace = TraceBuilder(self.path, time)
        for row in read_csv(self.path, (prompt, output)):
            trace.private(row, prompt, row.integer(prompt))
            trace.add(row, row.integer(output), None if time is None else row.number(time))
        return self.apply(trace.demand())

"""Recorded conversations as token ids, prompt and answer (LLMServingSim's JSON lines)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.json_rows import Row, read_rows
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder, ids_of

__all__ = ["SharegptIds"]


@dataclass(frozen=True, kw_only=True)
class SharegptIds(TraceOptions):
    """One request a line: `arrival_time_ns`, `input_tok_ids`, `output_tok_ids`, and how many ids these are.

    Answers are recorded, so a later prompt that repeats one finds it in the cache.
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        ("input_toks", "output_toks", "arrival_time_ns", "input_tok_ids", "output_tok_ids")
    )
    reads: ClassVar[str] = "times in ns, token ids"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(tokens)."""
        trace = TraceBuilder(self.path, "arrival_time_ns", 1e-9)
        for row in read_rows(self.path):
            row.check_keys(self.needs)
            trace.tokens(row, "input_tok_ids", _ids(row, "input_tok_ids", "input_toks"))
            answer = _ids(row, "output_tok_ids", "output_toks")
            trace.output_ids(row, "output_tok_ids", answer)
            trace.add(row, len(answer), row.number("arrival_time_ns"))
        return self.apply(trace.demand())


def _ids(row: Row, key: str, count_key: str) -> list[int]:
    """Token ids, as many as the row says."""
    ids, stated = ids_of(row, key), row.integer(count_key)
    if len(ids) != stated:
        raise row.problem(key, f"{len(ids)} ids", f"as many as {count_key}, which is {stated}")
    return ids

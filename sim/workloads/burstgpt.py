"""BurstGPT (HPMLL): four months of calls to ChatGPT and GPT-4 on Azure, as lengths to the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sim.csv_rows import read_csv
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Burstgpt"]

_TIME, _PROMPT, _OUTPUT, _LOG = "Timestamp", "Request tokens", "Response tokens", "Log Type"
_LOGS = {"conversation": "Conversation log", "api": "API log"}


@dataclass(frozen=True, kw_only=True)
class Burstgpt(TraceOptions):
    """A CSV with Timestamp (in s), Request tokens, Response tokens and Log Type.

    Failed calls have no response tokens. Every prompt is private: the trace does not say what prompts share.

    Attributes
    ----------
    log_type : which calls to keep: all, or those of conversations, or those of the API.
    """

    log_type: Literal["all", "conversation", "api"] = "all"
    needs: ClassVar[frozenset[str]] = frozenset((_TIME, _PROMPT, _OUTPUT))
    reads: ClassVar[str] = "times in s, no prefixes"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(rows)."""
        trace = TraceBuilder(self.path, _TIME)
        wanted = _LOGS.get(self.log_type)
        for row in read_csv(self.path, (_TIME, _PROMPT, _OUTPUT, *([_LOG] if wanted else []))):
            if wanted is None or row.word(_LOG) == wanted:
                trace.private(row, _PROMPT, row.integer(_PROMPT))
                trace.add(row, row.integer(_OUTPUT), row.number(_TIME))
        return self.apply(trace.demand())

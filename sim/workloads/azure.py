"""Azure's LLM inference traces (Splitwise, ISCA'24): dates, prompt lengths and output lengths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import ClassVar

import numpy as np

from sim.csv_rows import TextRow, read_csv
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Azure"]

_TIME, _PROMPT, _OUTPUT = "TIMESTAMP", "ContextTokens", "GeneratedTokens"
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)?", re.ASCII)


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
            trace.add(row, row.integer(_OUTPUT), _date_ns(row))
        return self.apply(trace.demand())


def _date_ns(row: TextRow) -> int:
    """A date in UTC as integer ns since 1970; the seven fractional digits are more than a double or `%f` holds."""
    text = row.word(_TIME).strip()
    found = _DATE.fullmatch(text)
    if found is None:
        raise row.problem(_TIME, f'"{text}"', "a date such as 2023-11-16 18:15:46.6805900")
    day, hours, minutes, seconds, fraction = found.groups("")
    try:
        days = _day(day)
    except ValueError:
        raise row.problem(_TIME, f'"{text}"', "a day between 1970 and 2261") from None
    whole_s = ((days * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    return whole_s * 1_000_000_000 + int(fraction.ljust(9, "0"))


@cache
def _day(text: str) -> int:
    day = date.fromisoformat(text)
    if not 1970 <= day.year <= 2261:  # what 64 bits of nanoseconds reach
        raise ValueError(text)
    return day.toordinal() - date(1970, 1, 1).toordinal()

"""Recorded times → integer nanoseconds from the start of the trace."""

from __future__ import annotations

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from sim.errors import ScenarioError

__all__ = ["date_clock", "trace_clock"]

#: Three years: a trace that starts later counts from an epoch, and one that lasts longer mixes two clocks.
_LONGEST_S = 1e8
#: 2001 and 2096: a time between them looks like a date.
_FIRST_DATE_S, _LAST_DATE_S = 1e9, 4e9
#: The year 5138: a later date is in another unit.
_LATEST_S = 1e11


def trace_clock(times: FloatArray, unit_s: float, lines: IntArray, where: str) -> tuple[IntArray, tuple[str, ...]]:
    """Arrival times in ns, and warnings.

    Parameters
    ----------
    times : (n,) recorded times ≥ 0, in file order.
    unit_s : seconds per unit.
    lines : (n,) line of each.
    where : ``"{line}"``-style address for errors, e.g. ``"trace.jsonl:{line}: timestamp"``.

    Raises
    ------
    ScenarioError
        Dates too far in the future for the unit, or times on two origins.
    """
    if len(times) == 0:
        return np.zeros(0, dtype=np.int64), ()
    first, last = int(times.argmin()), int(times.argmax())
    if times[last] * unit_s > _LATEST_S:
        found = f"{times[last]:.17g}, which is the year {1970 + times[last] * unit_s / 3.15576e7:,.0f}"
        raise ScenarioError(where.format(line=lines[last]), found, f"times in units of {unit_s:g} s")
    if (times[last] - times[first]) * unit_s > _LONGEST_S:
        found = f"{times[last]:.17g}, and {times[first]:.17g} on line {lines[first]}"
        raise ScenarioError(where.format(line=lines[last]), found, "times that count from one origin")
    if times[first] * unit_s < _LONGEST_S:
        return np.rint(times * (unit_s * 1e9)).astype(np.int64), _other_unit(float(times[first]), unit_s)
    warning = f"recorded times are dates: they are counted from the first, {times[first]:.17g}"
    return np.rint((times - times[first]) * (unit_s * 1e9)).astype(np.int64), (warning,)


def _other_unit(first: float, unit_s: float) -> tuple[str, ...]:
    """A warning where the first time would be a date of our days if it counted in another unit."""
    for name, other_s in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if other_s != unit_s and _FIRST_DATE_S <= first * other_s < _LAST_DATE_S:
            year = int(1970 + first * other_s / 3.15576e7)
            found = f"times are taken in units of {unit_s:g} s, but {first:.17g} {name} would be a date of {year}"
            return (f"{found}: if it is one, arrivals are too close together or too far apart",)
    return ()


def date_clock(times_ns: IntArray, lines: IntArray, where: str) -> IntArray:
    """Dates in ns → arrival times in ns from the earliest; parameters and errors as for `trace_clock`."""
    if len(times_ns) == 0:
        return times_ns
    first, last = int(times_ns.argmin()), int(times_ns.argmax())
    span_s = (int(times_ns[last]) - int(times_ns[first])) / 1e9
    if span_s > _LONGEST_S:
        found = f"a date {span_s / 86400:,.0f} days after that on line {lines[first]}"
        raise ScenarioError(where.format(line=lines[last]), found, "dates within three years")
    arrival_ns: IntArray = times_ns - times_ns[first]
    return arrival_ns

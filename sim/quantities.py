"""Numbers a scenario may hold: every one has a largest value, stated in the schema and in the error that refuses more.

The bounds are far beyond any server and any experiment. They keep arithmetic inside what 64-bit integers and doubles
hold, and a slip of the keyboard out of the machine's memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from mechanism.prompts import FloatArray, IntArray
from sim.errors import ScenarioError

__all__ = [
    "LARGEST",
    "LARGEST_INTEGER",
    "LATEST_NS",
    "MOST_MONEY",
    "SMALLEST",
    "Count",
    "CountOrZero",
    "LengthTokens",
    "LengthTokensOrZero",
    "Money",
    "NumRequests",
    "Percent",
    "PositiveMilliseconds",
    "PositiveMoney",
    "PositiveSeconds",
    "Ratio",
    "Seconds",
    "Spread",
    "beyond_bounds",
    "whole_ns",
]

#: What holds for every number of a scenario, whatever its field says.
LARGEST, SMALLEST, LARGEST_INTEGER = 1e15, 1e-15, 2**63 - 1
#: Values and bids, also those drawn or recorded: squares and sums of millions of them are finite doubles.
MOST_MONEY = 1e100
#: 146 years: any time up to here, and the sum of any two, is an int64.
LATEST_NS = 2**62

_INT32 = 2**31 - 1

#: How many of something, or a capacity in tokens.
Count = Annotated[int, Field(ge=1, le=_INT32)]
CountOrZero = Annotated[int, Field(ge=0, le=_INT32)]
#: Requests, users or trials of one run.
NumRequests = Annotated[int, Field(ge=1, le=10_000_000)]
#: Tokens of one piece of a prompt or of an output.
LengthTokens = Annotated[int, Field(ge=1, le=100_000_000)]
LengthTokensOrZero = Annotated[int, Field(ge=0, le=100_000_000)]
#: A time, up to three years.
Seconds = Annotated[float, Field(ge=0, le=1e8)]
PositiveSeconds = Annotated[float, Field(gt=0, le=1e8)]
PositiveMilliseconds = Annotated[float, Field(gt=0, le=1e11)]
#: Money as a scenario states it.
Money = Annotated[float, Field(ge=0, le=1e12)]
PositiveMoney = Annotated[float, Field(ge=1e-12, le=1e12)]
#: A factor or a rate.
Ratio = Annotated[float, Field(ge=1e-9, le=1e9)]
#: Standard deviation of a logarithm.
Spread = Annotated[float, Field(ge=0, le=10)]
#: A share that may exceed the whole.
Percent = Annotated[float, Field(ge=0, le=1e6)]


def beyond_bounds(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where in plain data a number is larger, or nearer to 0, than any a scenario may hold, and what may stand there.

    Infinity and NaN are left to the field, which may allow the former.

    >>> list(beyond_bounds({"a": [1, 1e300], "b": True}))
    [(('a', 1), 'a number of at most 1e+15')]
    """
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from beyond_bounds(item, (*path, key))
    elif isinstance(data, int) and not isinstance(data, bool) and abs(data) > LARGEST_INTEGER:
        yield path, f"an integer of at most {LARGEST_INTEGER:,}"
    elif isinstance(data, float) and math.isfinite(data) and abs(data) > LARGEST:
        yield path, f"a number of at most {LARGEST:g}"
    elif isinstance(data, float) and 0 < abs(data) < SMALLEST:
        yield path, f"0, or a number of at least {SMALLEST:g}"


def whole_ns(times_ns: FloatArray, key: str) -> IntArray:
    """Arrival times as int64.

    Raises
    ------
    ScenarioError
        One is later than any clock we keep; `key` is what made it so.
    """
    if len(times_ns) and not times_ns.max() < LATEST_NS:
        raise ScenarioError(key, f"an arrival after {times_ns.max() / 1e9:.3g} s", "arrivals within 146 years")
    return np.rint(times_ns).astype(np.int64)

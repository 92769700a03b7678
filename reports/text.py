"""Numbers as people read them: digits from the standard error, units, and words for what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reports.series import Estimate

__all__ = ["MISSING", "Unit", "difference", "estimate", "mean_text", "number", "se_text", "unit_of_ms"]

MISSING = "not reported"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is shown: times `scale`, followed by `name`, with at most `decimals` decimals.

    `delta` is the unit of differences where it is another one: a share differs by percentage points.
    """

    name: str = ""
    scale: float = 1.0
    signed: bool = False
    delta: str | None = None
    decimals: int = 6

    def for_values(self, values: Iterable[float | None]) -> Unit:
        """This unit with two decimals, or as many as show four digits of the largest value."""
        largest = max((abs(value) * self.scale for value in values if value is not None), default=0.0)
        return replace(self, decimals=max(2, _significant(largest)) if largest else 2)


def number(value: float | None, decimals: int | None = None, *, signed: bool = False) -> str:
    """`value` with a fixed number of decimals, or with four significant digits; never a minus before zero.

    >>> number(1234.5678), number(0.012345), number(None), number(-3.0, 1, signed=True)
    ('1,235', '0.01235', 'not reported', '−3.0')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    value = value or 0.0  # −0.0 reads as a loss
    if decimals is None and 0 < abs(value) < 1e-4:
        return f"{value:{'+' if signed else ''}.2e}".replace("-", _MINUS)
    if decimals is None:
        decimals = _significant(value)
    value = round(value, decimals) or 0.0
    return f"{value:{'+' if signed and value else ''},.{decimals}f}".replace("-", _MINUS)


def estimate(found: Estimate, unit: Unit) -> str:
    """A mean with its standard error, both to the error's second digit; without an error, the mean alone.

    >>> estimate(Estimate(14.2371, 0.934, 3), Unit("%", signed=True))
    '+14.24 ± 0.93 %'
    >>> estimate(Estimate(0.5, None, 1), Unit("%", 100.0)), estimate(Estimate(None, None, 0), Unit())
    ('50 %', 'not reported')
    """
    if found.mean is None or found.se is None:
        return mean_text(found, unit)
    mean = number(found.mean * unit.scale, _decimals(found, unit), signed=unit.signed)
    return f"{mean} ± {_error(found, unit)}{_tail(unit)}"


def difference(found: Estimate, unit: Unit) -> str:
    """A paired difference: always signed, in the unit of differences.

    >>> difference(Estimate(-0.031, 0.002, 3), Unit("%", 100.0, delta="pp"))
    '−3.10 ± 0.20 pp'
    """
    return estimate(found, replace(unit, name=unit.name if unit.delta is None else unit.delta, signed=True))


def mean_text(found: Estimate, unit: Unit) -> str:
    """The mean alone, to the digits its error allows."""
    if found.mean is None:
        return MISSING
    return number(found.mean * unit.scale, _decimals(found, unit), signed=unit.signed) + _tail(unit)


def se_text(found: Estimate, unit: Unit) -> str:
    """The error and the number of trials in words.

    >>> se_text(Estimate(1.0, 0.25, 3), Unit("s")), se_text(Estimate(1.0, None, 1), Unit("s"))
    ('± 0.25 · n = 3', 'n = 1, no interval')
    """
    if found.mean is None:
        return ""
    return f"n = {found.n}, no interval" if found.se is None else f"± {_error(found, unit)} · n = {found.n}"


def unit_of_ms(values: Iterable[float | None]) -> Unit:
    """Milliseconds, or seconds where the largest of the values is ten seconds or more."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return Unit("s", 1e-3) if largest >= 10_000 else Unit("ms")


def _tail(unit: Unit) -> str:
    return f" {unit.name}" if unit.name else ""


def _error(found: Estimate, unit: Unit) -> str:
    """The standard error to the mean's decimals; an error too small for them is said to be below the last."""
    if not _has_spread(found):
        return "0"
    decimals, se = _decimals(found, unit), (found.se or 0.0) * unit.scale
    return number(se, decimals) if round(se, decimals) > 0 else f"<{number(10.0**-decimals, decimals)}"


def _has_spread(found: Estimate) -> bool:
    """Whether there is an error, and more of it than the rounding of doubles leaves."""
    return found.mean is not None and found.se is not None and found.se > 1e-12 * abs(found.mean)


def _decimals(found: Estimate, unit: Unit) -> int:
    """Decimals up to the error's second digit, or four digits of the mean, within the unit's."""
    if _has_spread(found):
        decimals = max(0, 1 - math.floor(math.log10((found.se or 0.0) * unit.scale)))
    else:
        decimals = _significant((found.mean or 0.0) * unit.scale)
    return min(decimals, unit.decimals)


def _significant(value: float) -> int:
    """Decimals that show four significant digits; none for a whole number."""
    return 0 if float(value).is_integer() else max(0, 3 - math.floor(math.log10(abs(value))))

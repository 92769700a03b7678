"""Numbers as people read them: digits from the standard error, units, and words for what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from reports.series import Estimate

__all__ = ["MISSING", "Unit", "difference", "estimate", "mean_text", "number", "se_text", "unit_of_ms"]

MISSING = "not reported"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is shown: times `scale`, followed by `name`; `delta` is the unit of differences."""

    name: str = ""
    scale: float = 1.0
    signed: bool = False
    delta: str | None = None

    @property
    def delta_name(self) -> str:
        """The unit of a difference: a share differs by percentage points."""
        return self.name if self.delta is None else self.delta


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
        whole = float(value).is_integer()
        decimals = 0 if whole else max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:{'+' if signed and value else ''},.{min(decimals, 9)}f}"
    return text.replace("-", _MINUS)


def estimate(found: Estimate, unit: Unit) -> str:
    """A mean with its standard error, both to the error's second digit; without an error, the mean alone.

    >>> estimate(Estimate(14.2371, 0.934, 3), Unit("%", signed=True))
    '+14.24 ± 0.93 %'
    >>> estimate(Estimate(0.5, None, 1), Unit("%", 100.0)), estimate(Estimate(None, None, 0), Unit())
    ('50 %', 'not reported')
    """
    if found.mean is None or found.se is None:
        return mean_text(found, unit)
    decimals, se = _decimals(found, unit), found.se * unit.scale
    mean = number(found.mean * unit.scale, decimals, signed=unit.signed)
    return f"{mean} ± {number(se if decimals is not None else 0.0, decimals)}{_tail(unit)}"


def difference(found: Estimate, unit: Unit) -> str:
    """A paired difference: always signed, in the unit of differences.

    >>> difference(Estimate(-0.031, 0.002, 3), Unit("%", 100.0, delta="pp"))
    '−3.10 ± 0.20 pp'
    """
    return estimate(found, Unit(unit.delta_name, unit.scale, signed=True))


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
    if found.se is None:
        return f"n = {found.n}, no interval"
    decimals = _decimals(found, unit)
    return f"± {number(found.se * unit.scale if decimals is not None else 0.0, decimals)} · n = {found.n}"


def unit_of_ms(values: Iterable[float | None]) -> Unit:
    """Milliseconds, or seconds where the largest of the values is ten seconds or more."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return Unit("s", 1e-3) if largest >= 10_000 else Unit("ms")


def _tail(unit: Unit) -> str:
    return f" {unit.name}" if unit.name else ""


def _decimals(found: Estimate, unit: Unit) -> int | None:
    """Decimals up to the error's second digit; None without an error, or where it is rounding of doubles."""
    if found.mean is None or found.se is None or found.se <= 1e-12 * abs(found.mean):
        return None
    return min(max(1 - math.floor(math.log10(found.se * unit.scale)), 0), 6)

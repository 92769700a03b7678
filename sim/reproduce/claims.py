"""What a claim of the paper is, and when a measurement agrees with it.

The ranges follow from how the paper words a claim, never from a result, and are printed beside every verdict:

- A number stated as a percentage counts as rounded to the digits in which it is stated ("12 %" is 11.5 … 12.5).
- "About 10 %" is 8 … 12.
- A ratio of TTFTs may be off by a tenth either way: the latency profile's prefill times are good to ±10 %.
- "The same" means within one percentage point of hit rate, within 2 % of TTFT, within 1 % of welfare.

How a verdict comes about: `sim.reproduce.judging`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sim.reproduce.readings import Quantity

__all__ = [
    "SAME_HIT_RATE_PP",
    "SAME_TTFT",
    "SAME_WELFARE_PCT",
    "Claim",
    "Part",
    "Range",
    "about_ratio",
    "rounded",
]

SAME_HIT_RATE_PP = 1.0
SAME_TTFT = 0.02
SAME_WELFARE_PCT = 1.0


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers that count as what the paper states; infinite ends are open.

    >>> Range(18.5, 22.5).words("%"), Range(-math.inf, 50.0).words("%"), Range(0.0, 0.0).words("")
    ('18.5 … 22.5 %', '≤ 50 %', '0')
    """

    low: float
    high: float

    def distance(self, mean: float) -> float:
        """How far outside a number lies; negative inside: how far from the nearer end."""
        return max(self.low - mean, mean - self.high)

    def words(self, unit: str) -> str:
        """The range as text."""
        low, high = (f"{end:.3g}".replace("-", "\N{MINUS SIGN}") for end in (self.low, self.high))
        if math.isinf(self.low):
            words = f"≤ {high}"
        elif math.isinf(self.high):
            words = f"≥ {low}"
        else:
            words = f"{low} … {high}" if self.low < self.high else low
        return f"{words} {unit}" if unit else words


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One number of a claim.

    Attributes
    ----------
    label : what it is the number of.
    stated : what the paper says of it.
    within : the range that agrees.
    quantities : (point, how it is measured); of several, the one farthest from the range is shown, and all must agree.
    unit : of the number; "" for a plain one.
    every : every trial has to lie in the range, not only the mean; the trial farthest from it is shown.
    """

    label: str
    stated: str
    within: Range
    quantities: tuple[tuple[str, Quantity], ...]
    unit: str
    every: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of the paper.

    Attributes
    ----------
    figure : where it is shown: "fig1" … "runtime".
    name : the claim in a few words.
    text : the statement.
    source : where the paper makes it.
    rule : the ranges in words.
    assumption : what the outcome hangs on.
    engine : False where no engine takes part, so that all settings have the same number.
    """

    key: str
    figure: str
    name: str
    text: str
    source: str
    rule: str
    assumption: str
    parts: tuple[Part, ...]
    engine: bool = True


def rounded(stated: float, other: float | None = None) -> Range:
    """The range of a number, or of a range of numbers, stated in whole units.

    >>> rounded(12), rounded(19, 22)
    (Range(low=11.5, high=12.5), Range(low=18.5, high=22.5))
    """
    return Range(stated - 0.5, (stated if other is None else other) + 0.5)


def about_ratio(stated: float) -> Range:
    """The range of a ratio of TTFTs."""
    return Range(round(0.9 * stated, 9), round(1.1 * stated, 9))

"""What a claim of the paper is, and when a measurement agrees with it.

The ranges follow from how the paper words a claim, never from a result, and are printed beside every verdict together
with their basis (`Basis`):

- the paper: a number stated as a percentage counts as rounded to the digits in which it is stated ("12 %" is
  11.5 … 12.5).
- our reading: a stated number with a tolerance of ours. "About 10 %" is 8 … 12; a ratio of TTFTs may be off by a tenth
  either way, for the latency profile's prefill times are good to ±10 %.
- our threshold: words without a number. "The same" means within one percentage point of hit rate, within 2 % of TTFT,
  within 1 % of welfare.

How a verdict comes about: `sim.reproduce.judging`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from sim.reproduce.readings import Quantity

__all__ = [
    "COMPETITIVE_GAP_PCT",
    "LOST_HIT_RATE_PP",
    "SAME_HIT_RATE_PP",
    "SAME_TTFT",
    "SAME_WELFARE_PCT",
    "Basis",
    "Claim",
    "Part",
    "Range",
    "about_ratio",
    "rounded",
]

SAME_HIT_RATE_PP = 1.0
SAME_TTFT = 0.02
SAME_WELFARE_PCT = 1.0
#: "Competitive" welfare is at most so much below that of bid-sort.
COMPETITIVE_GAP_PCT = 10.0
#: A "significantly" reduced hit rate is at least so much lower.
LOST_HIT_RATE_PP = 10.0

Basis = Literal["the paper", "our reading", "our threshold"]


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers that count as what the paper states; infinite ends are open.

    `basis` says where the ends come from: a number of the paper's, that number with a tolerance of ours, or a threshold
    of ours where the paper has words only.

    >>> Range(11.5, 18.65).words("%"), Range(-math.inf, 50.0).words("%"), Range(0.0, 0.0).words("")
    ('11.5 … 18.65 %', '≤ 50 %', '0')
    """

    low: float
    high: float
    basis: Basis = field(default="our threshold", compare=False, repr=False)

    def distance(self, mean: float) -> float:
        """How far outside a number lies; negative inside: how far from the nearer end."""
        return max(self.low - mean, mean - self.high)

    def resolves(self, low: float, high: float) -> bool:
        """Whether an interval around a mean inside stays within an end of the range: not if it passes all there are.

        >>> Range(0, 10).resolves(-1, 9), Range(0, 10).resolves(-1, 11)
        (True, False)
        >>> Range(1, math.inf).resolves(1.1, 3), Range(1, math.inf).resolves(0.9, 3)
        (True, False)
        """
        passes_low, passes_high = low < self.low, high > self.high
        return not ((passes_low or math.isinf(self.low)) and (passes_high or math.isinf(self.high)))

    def words(self, unit: str) -> str:
        """The range as text."""
        low, high = (f"{end:.4g}".replace("-", "\N{MINUS SIGN}") for end in (self.low, self.high))
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
    return Range(stated - 0.5, (stated if other is None else other) + 0.5, "the paper")


def about_ratio(stated: float) -> Range:
    """The range of a ratio of TTFTs."""
    return Range(round(0.9 * stated, 9), round(1.1 * stated, 9), "our reading")

"""What a claim of the paper is, and when a measurement agrees with it.

The rules were fixed before any result was looked at, and are printed beside every verdict:

- A number stated as a percentage counts as rounded to the digits in which it is stated ("12 %" is 11.5 … 12.5).
- "About 10 %" is 8 … 12.
- A ratio of TTFTs may be off by a tenth either way: the latency profile's prefill times are good to ±10 %.
- "The same" means within one percentage point of hit rate, within 2 % of TTFT, within 1 % of welfare.
- A measurement agrees when the 95 % interval of its mean over seeds overlaps the range that this gives; where a claim
  holds in every trial or not at all (a theorem), when every trial lies in the range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mechanism.prompts import FloatArray
from sim.compare_stats import Interval, interval_of
from sim.reproduce.estimates import PAPERS_TRIALS, reach_of_three_trials
from sim.reproduce.readings import Quantity, Readings

__all__ = [
    "SAME_HIT_RATE_PP",
    "SAME_TTFT",
    "SAME_WELFARE_PCT",
    "Claim",
    "Finding",
    "Part",
    "Range",
    "about_ratio",
    "judge",
    "rounded",
]

Verdict = Literal["yes", "no", "undecided"]

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
        tail = f" {unit}" if unit else ""
        if math.isinf(self.low):
            return f"≤ {self.high:g}{tail}"
        if math.isinf(self.high):
            return f"≥ {self.low:g}{tail}"
        return f"{self.low:g} … {self.high:g}{tail}" if self.low < self.high else f"{self.low:g}{tail}"


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
    every : every trial has to lie in the range, not only the mean.
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
    text : the statement.
    source : where the paper makes it.
    rule : in words, when a number agrees.
    assumption : what the outcome hangs on.
    engine : False where no engine takes part, so that all settings have the same number.
    """

    key: str
    figure: str
    text: str
    source: str
    rule: str
    assumption: str
    parts: tuple[Part, ...]
    engine: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of a claim in one setting.

    Attributes
    ----------
    at : the point it was found at, where a part has several.
    first_three : the same over the first three trials, as many as the paper's; None where there are no more.
    by_chance : the verdict is no, yet a mean of three trials could have been the paper's.
    """

    found: Interval
    first_three: Interval | None
    at: str
    verdict: Verdict
    by_chance: bool

    def to_json(self) -> dict[str, Any]:
        """As it stands in records and ``--json``."""
        return {
            **_interval_json(self.found),
            "at": self.at,
            "verdict": self.verdict,
            "could_be_chance_of_three_trials": self.by_chance,
            "first_three_trials": None if self.first_three is None else _interval_json(self.first_three),
        }


def rounded(stated: float, other: float | None = None) -> Range:
    """The range of a number, or of a range of numbers, stated in whole units.

    >>> rounded(12), rounded(19, 22)
    (Range(low=11.5, high=12.5), Range(low=18.5, high=22.5))
    """
    return Range(stated - 0.5, (stated if other is None else other) + 0.5)


def about_ratio(stated: float) -> Range:
    """The range of a ratio of TTFTs."""
    return Range(round(0.9 * stated, 9), round(1.1 * stated, 9))


def judge(part: Part, readings: Readings) -> Finding:
    """Measure one part of a claim and compare it with what the paper states."""
    found = [_finding(part, label, quantity(readings)) for label, quantity in part.quantities]
    return max(found, key=lambda each: (each.verdict == "no", _distance(part, each)))


def _finding(part: Part, at: str, trials: FloatArray) -> Finding:
    found = interval_of(_there(trials))
    more = len(trials) > PAPERS_TRIALS
    verdict = _verdict(part, found, trials)
    reach = reach_of_three_trials(found)
    return Finding(
        found=found,
        first_three=interval_of(_there(trials[:PAPERS_TRIALS])) if more else None,
        at=at,
        verdict=verdict,
        by_chance=verdict == "no" and not part.every and reach is not None and _overlaps(part.within, *reach),
    )


def _verdict(part: Part, found: Interval, trials: FloatArray) -> Verdict:
    if part.every:
        there = trials[~np.isnan(trials)]
        inside = (there >= part.within.low) & (there <= part.within.high)
        return "undecided" if len(there) == 0 else "yes" if inside.all() else "no"
    if found.low is None or found.high is None:
        return "undecided"
    return "yes" if _overlaps(part.within, found.low, found.high) else "no"


def _distance(part: Part, found: Finding) -> float:
    return -math.inf if found.found.mean is None else part.within.distance(found.found.mean)


def _overlaps(within: Range, low: float, high: float) -> bool:
    return low <= within.high and high >= within.low


def _there(trials: FloatArray) -> Sequence[float]:
    there: list[float] = trials[~np.isnan(trials)].tolist()
    return there


def _interval_json(found: Interval) -> dict[str, Any]:
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}

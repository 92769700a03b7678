"""When a measurement agrees with a claim, and whether the paper's three trials could explain that it does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mechanism.prompts import FloatArray
from sim.compare_stats import Interval, interval_of
from sim.reproduce.claims import Part, Range
from sim.reproduce.readings import Readings

__all__ = ["PAPERS_TRIALS", "RULE", "VERDICTS", "Finding", "interval_json", "judge", "reach_of_three_trials"]

Verdict = Literal["yes", "yes, not resolved", "cannot tell", "no"]

RULE = (
    "yes: our mean over seeds lies in the range that the claim gives. yes, not resolved: so it does, but its 95 % "
    "interval (Student's t over seeds) is wider than the range on both sides, or, where the range has one end, passes "
    "that end; more seeds may move the mean out. cannot tell: the mean lies outside, but the interval reaches the "
    "range, or there is a single seed. no: the whole interval lies outside. What a theorem says must hold in every "
    "trial. A claim of several numbers has the worst of their verdicts."
)
#: "A mean of three trials", says §5 of every number.
PAPERS_TRIALS = 3
#: From the best to the worst.
VERDICTS: tuple[Verdict, ...] = ("yes", "yes, not resolved", "cannot tell", "no")


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
            **interval_json(self.found),
            "at": self.at,
            "verdict": self.verdict,
            "could_be_chance_of_three_trials": self.by_chance,
            "first_three_trials": None if self.first_three is None else interval_json(self.first_three),
        }


def interval_json(found: Interval) -> dict[str, float | int | None]:
    """Mean, ends of the 95 % interval and n, as they stand in records and ``--json``."""
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def judge(part: Part, readings: Readings) -> Finding:
    """Measure one part of a claim and compare it with what the paper states, by `RULE`."""
    finding = _of_every_trial if part.every else _of_the_mean
    found = [finding(part.within, label, quantity(readings)) for label, quantity in part.quantities]
    return max(found, key=lambda each: (VERDICTS.index(each.verdict), _distance(part, each)))


def reach_of_three_trials(found: Interval) -> tuple[float, float] | None:
    """The 95 % interval of a mean of three further trials: mean ± t·s·√(1/n + 1/3); None without an interval.

    Our own interval is mean ± t·s·√(1/n), so this one is √(1 + n/3) times as wide. A paper's number outside ours but
    inside this one may differ from ours by the chance of its three trials alone.

    >>> reach_of_three_trials(Interval(mean=10.0, se=None, n=9, low=9.0, high=11.0))
    (8.0, 12.0)
    """
    if found.mean is None or found.low is None or found.high is None:
        return None
    half = (found.high - found.low) / 2 * math.sqrt(1 + found.n / PAPERS_TRIALS)
    return found.mean - half, found.mean + half


def _of_the_mean(within: Range, at: str, trials: FloatArray) -> Finding:
    found, first = interval_of(_there(trials)), interval_of(_there(trials[:PAPERS_TRIALS]))
    verdict: Verdict = "cannot tell"
    if found.mean is not None and found.low is not None and found.high is not None:
        verdict = _against(within, found.mean, found.low, found.high)
    reach = reach_of_three_trials(found)
    return Finding(
        found=found,
        first_three=first if len(trials) > PAPERS_TRIALS else None,
        at=at,
        verdict=verdict,
        by_chance=verdict == "no" and reach is not None and reach[0] <= within.high and reach[1] >= within.low,
    )


def _against(within: Range, mean: float, low: float, high: float) -> Verdict:
    if within.distance(mean) <= 0:
        return "yes" if within.resolves(low, high) else "yes, not resolved"
    return "cannot tell" if low <= within.high and high >= within.low else "no"


def _of_every_trial(within: Range, at: str, trials: FloatArray) -> Finding:
    there = _there(trials)
    if not there:
        return Finding(interval_of(()), None, at, "cannot tell", by_chance=False)
    worst = max(there, key=within.distance)
    verdict: Verdict = "yes" if within.distance(worst) <= 0 else "no"
    return Finding(Interval(worst, None, len(there)), None, at, verdict, by_chance=False)


def _distance(part: Part, found: Finding) -> float:
    return -math.inf if found.found.mean is None else part.within.distance(found.found.mean)


def _there(trials: FloatArray) -> Sequence[float]:
    there: list[float] = trials[~np.isnan(trials)].tolist()
    return there

"""Where a mean of the paper's three trials could have fallen, from an interval over ours."""

from __future__ import annotations

import math

from sim.compare_stats import Interval

__all__ = ["PAPERS_TRIALS", "reach_of_three_trials"]

#: "A mean of three trials", says §5 of every number.
PAPERS_TRIALS = 3


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

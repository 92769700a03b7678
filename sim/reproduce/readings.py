"""What one engine setting measured, trial by trial, and the quantities that claims speak of.

Every quantity is a (trials,) array; NaN where a trial has no such number. Ratios and differences are taken inside a
trial, where both schedules met the same requests, values and arrivals, before anything is averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanism.prompts import FloatArray
from sim.reproduce.experiments import Experiment
from sim.reproduce.run_time import RunTimes

__all__ = [
    "Quantity",
    "Readings",
    "gap_pct",
    "hit_difference_pp",
    "hit_growth_pp",
    "lead_pct",
    "over_random_pct",
    "slowdown",
    "ttft_growth",
    "ttft_ratio",
]


@dataclass(frozen=True, slots=True)
class Readings:
    """The summaries of all experiments in one setting, and what was timed besides.

    Attributes
    ----------
    setting : its name.
    summaries : experiment → the cell's summary (summary.json's content).
    run_times : of the auction itself; None where they were not asked for.
    """

    setting: str
    summaries: Mapping[Experiment, Mapping[str, Any]]
    run_times: RunTimes | None = None

    def trials(self, experiment: Experiment, schedule: str, metric: str) -> FloatArray:
        """(trials,) one metric of a schedule."""
        rows = self.summaries[experiment]["schedules"][schedule]["trials"]
        return np.array([row[metric] for row in rows], dtype=np.float64)

    def budgets(self, experiment: Experiment, label: str, metric: str) -> FloatArray:
        """(trials,) one number of `summary["pacing"]`."""
        rows = self.summaries[experiment]["pacing"]["schedules"][label]["trials"]
        return np.array([row[metric] for row in rows], dtype=np.float64)


#: Measures one number of a claim, trial by trial.
Quantity = Callable[[Readings], FloatArray]


def over_random_pct(experiment: Experiment, schedule: str) -> Quantity:
    """Realised welfare above a random order, %: what the paper plots."""
    return lambda found: found.trials(experiment, schedule, "welfare_pct_over_random")


def lead_pct(experiment: Experiment) -> Quantity:
    """100 × (W(dfs-bid) / W(dfs-uniform) − 1)."""
    return lambda found: 100 * (_ratio(found, experiment, "welfare", "dfs-bid", "dfs-uniform") - 1)


def gap_pct(experiment: Experiment) -> Quantity:
    """100 × (1 − W(dfs-bid) / W(bid-sort)): what the DFS restriction costs (Proposition 2.4: at most half)."""
    return lambda found: 100 * (1 - _ratio(found, experiment, "welfare", "dfs-bid", "bid-sort"))


def slowdown(experiment: Experiment) -> Quantity:
    """Mean TTFT of bid-sort / of dfs-bid."""
    return lambda found: _ratio(found, experiment, "mean_ttft_ms", "bid-sort", "dfs-bid")


def ttft_ratio(experiment: Experiment) -> Quantity:
    """Mean TTFT of dfs-bid / of dfs-uniform."""
    return lambda found: _ratio(found, experiment, "mean_ttft_ms", "dfs-bid", "dfs-uniform")


def hit_difference_pp(experiment: Experiment, schedule: str = "dfs-bid", other: str = "dfs-uniform") -> Quantity:
    """Hit rate of a schedule less that of another, percentage points."""
    return lambda found: (
        100 * (found.trials(experiment, schedule, "hit_rate") - found.trials(experiment, other, "hit_rate"))
    )


def hit_growth_pp(first: Experiment, last: Experiment, schedule: str) -> Quantity:
    """Hit rate in `last` less that in `first`, percentage points."""
    return lambda found: 100 * (found.trials(last, schedule, "hit_rate") - found.trials(first, schedule, "hit_rate"))


def ttft_growth(first: Experiment, last: Experiment, schedule: str) -> Quantity:
    """Mean TTFT in `last` / in `first`."""
    return lambda found: found.trials(last, schedule, "mean_ttft_ms") / found.trials(first, schedule, "mean_ttft_ms")


def _ratio(found: Readings, experiment: Experiment, metric: str, above: str, below: str) -> FloatArray:
    return found.trials(experiment, above, metric) / found.trials(experiment, below, metric)

"""Paired differences to the baseline with a t and a bootstrap interval, at each setting and over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.compare import Comparison, Setting
from sim.compare_stats import Interval, bootstrap_intervals, interval_of

__all__ = ["HEADLINES", "Difference", "differences", "unpaired"]

#: What a page shows; other metrics are in ``--json``.
HEADLINES = (
    "welfare_pct_over_random",
    "hit_rate",
    "mean_ttft_ms",
    "p90_ttft_ms",
    "value_weighted_ttft_ms",
    "revenue",
    "total_token_throughput",
    "goodput",
)
#: Bootstrap intervals made for single settings; beyond, only those over all settings are.
MOST_BOOTSTRAPS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Contender − baseline in one metric.

    Attributes
    ----------
    setting : None = the mean over the settings where both are there.
    interval : mean, standard error, n and t interval.
    bootstrap : percentile interval, None where it was not made or n < 2.
    """

    setting: Setting | None
    contender: str
    metric: str
    interval: Interval
    bootstrap: tuple[float, float] | None


def differences(comparison: Comparison, metrics: Sequence[str] = HEADLINES) -> tuple[Difference, ...]:
    """Metric by metric and contender by contender: the mean over settings, then each setting; where there is a pair."""
    found: list[tuple[Setting | None, str, str, list[float]]] = []
    several = len(comparison.settings) > 1
    for metric in metrics:
        for name in comparison.contenders:
            if name == comparison.baseline:
                continue
            if several:
                mean = comparison.mean_differences(comparison.settings, name, metric)
                found.append((None, name, metric, mean))
            for setting in comparison.settings:
                values = [value for value in comparison.differences(setting, name, metric) if value is not None]
                found.append((setting, name, metric, values))
    found = [each for each in found if each[3]]
    made = found if len(found) <= MOST_BOOTSTRAPS else [each for each in found if each[0] is None]
    ends = dict(zip(map(id, made), bootstrap_intervals([each[3] for each in made]), strict=True))
    return tuple(
        Difference(
            setting=each[0],
            contender=each[1],
            metric=each[2],
            interval=interval_of(each[3]),
            bootstrap=ends.get(id(each)),
        )
        for each in found
    )


def unpaired(comparison: Comparison) -> tuple[tuple[Setting, str], ...]:
    """Contenders that stand beside the baseline at a setting and did not meet its requests."""
    found = []
    for setting in comparison.settings:
        base = setting.rows.get(comparison.baseline)
        for name, row in setting.rows.items():
            if base is not None and row.requests != base.requests:
                found.append((setting, name))
    return tuple(found)

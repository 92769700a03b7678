"""The metrics of summary.json, in the order the page shows them, with their words and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.series import Series
from reports.text import Unit, unit_of_ms

__all__ = ["HEADLINES", "Metric", "known_metrics", "unit_for", "unit_of"]

_LATENCIES = {"ttft_ms": "TTFT", "tpot_ms": "time per output token", "e2el_ms": "end-to-end latency"}
#: Keys of a schedule's record that are no metrics.
_OTHER_KEYS = frozenset({"statuses", "trials", "paired"})


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's name in summary.json, the page's words for it, and which way is better (+1, −1, 0 = neither)."""

    name: str
    title: str
    better: int = 0

    @property
    def family(self) -> str:
        """What the metric is a statistic of: one name for the mean and all percentiles of a latency."""
        return next((words for latency, words in _LATENCIES.items() if self.name.endswith(latency)), self.title)


HEADLINES = (
    Metric("welfare_pct_over_random", "Welfare over random", +1),
    Metric("hit_rate", "Cache hit rate", +1),
    Metric("mean_ttft_ms", "Mean TTFT", -1),
    Metric("p99_ttft_ms", "p99 TTFT", -1),
    Metric("revenue", "Revenue"),
)

_TITLES = {
    "welfare": "Welfare, realised order",
    "scheduled_welfare": "Welfare, scheduled order",
    "value_weighted_ttft_ms": "Value-weighted TTFT",
    "max_wait_s": "Longest wait for admission",
    "request_throughput": "Requests a second",
    "total_token_throughput": "Tokens a second, prompt and output",
    "goodput": "Goodput under the SLO",
    "duration_s": "Duration of the run",
}
_STATISTICS = {"mean": "Mean", "median": "Median", "p90": "p90", "p95": "p95", "p99": "p99"}
_TITLES |= {
    f"{statistic}_{latency}": f"{first} {words}"
    for latency, words in _LATENCIES.items()
    for statistic, first in _STATISTICS.items()
}
_UNITS = {
    "welfare_pct_over_random": Unit("%", signed=True, delta="pp"),
    "hit_rate": Unit("%", 100.0, delta="pp"),
    "request_throughput": Unit("/s"),
    "total_token_throughput": Unit("/s"),
    "goodput": Unit("/s"),
}


def known_metrics(records: Iterable[Mapping[str, object]]) -> tuple[Metric, ...]:
    """Every metric any of the schedules reports: headlines, then the known ones, then whatever else there is."""
    names = dict.fromkeys(name for record in records for name in record if name not in _OTHER_KEYS)
    headline = {metric.name: metric for metric in HEADLINES}
    known = [Metric(name, title) for name, title in _TITLES.items() if name in names and name not in headline]
    other = [Metric(name, name) for name in names if name not in headline and name not in _TITLES]
    return (*(metric for name, metric in headline.items() if name in names), *known, *other)


def unit_of(metric: Metric, series: Sequence[Series]) -> Unit:
    """The unit a metric is shown in, one for all schedules so that they can be compared at a glance."""
    return unit_for(metric.name, [one.metric(metric.name).mean for one in series])


def unit_for(name: str, values: Sequence[float | None]) -> Unit:
    """The unit that a metric with these values is shown in."""
    if name in _UNITS:
        return _UNITS[name].for_values(values)
    if name.endswith("_ms"):
        return unit_of_ms(values).for_values(values)
    return (Unit("s") if name.endswith("_s") else Unit()).for_values(values)

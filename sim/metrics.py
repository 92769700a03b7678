"""The metrics of one mechanism on one trial; names follow `vllm bench serve` where it has one.

Every metric is a float or None: empty is null, never 0. Percentiles are numpy's linear ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanism.prompts import FloatArray
from sim.clock import NS_PER_S
from sim.realised import cohort_of
from sim.records import Cell

__all__ = ["DEFINITIONS", "METRIC_NAMES", "Metrics", "Window", "status_counts", "trial_metrics"]

Metrics = dict[str, float | None]
BoolArray = npt.NDArray[np.bool_]

#: Every metric of a trial, in the order of summary.json.
METRIC_NAMES = (
    *("welfare", "scheduled_welfare", "welfare_pct_over_random", "value_weighted_ttft_ms", "hit_rate"),
    *(
        f"{part}_{name}"
        for name in ("ttft_ms", "tpot_ms", "e2el_ms")
        for part in ("mean", "median", "p90", "p95", "p99")
    ),
    *("max_wait_s", "request_throughput", "total_token_throughput", "goodput", "revenue", "duration_s"),
)

DEFINITIONS = {
    "welfare": "Σ value × realised priority; the realised priority is the share of the cohort served after the "
    "request, by TTFT, ties by submission. Cohort: the whole run when arrivals are saturated, else the batch.",
    "scheduled_welfare": "Σ value × scheduled priority, inside each scheduling batch.",
    "welfare_pct_over_random": "100 × (welfare / baseline − 1); baseline = Σ value × ½ (1 for a cohort of one).",
    "value_weighted_ttft_ms": "Σ value × TTFT / Σ value.",
    "hit_rate": "Σ cached tokens / Σ prompt tokens over admitted requests whose server reports cached tokens.",
    "ttft_ms": "First token − arrival (saturated: arrival = 0).",
    "tpot_ms": "(Finish − first token) / (output tokens − 1); none for one token.",
    "e2el_ms": "Finish − arrival.",
    "max_wait_s": "The longest time from arrival to first admission into an engine batch.",
    "request_throughput": "Completed requests per second of the run; with warmup_s or cooldown_s, those that arrived "
    "inside the window per second of the window.",
    "total_token_throughput": "Prompt and output tokens of completed requests per second of the run.",
    "goodput": "Completed requests per second that met every target of `slo`.",
    "revenue": "Σ payments.",
    "duration_s": "Last finish − first arrival.",
    "rejected": "Requests that can never fit the server: no auction, no position, no payment, outside every mean.",
    "se": "Standard error of the mean over trials, standard deviation / √n; none for one trial.",
    "paired": "Mean over trials of the difference to the first schedule on the same requests, with its error.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which requests count, and the targets of goodput: `slo` maps ttft_ms, tpot_ms, e2el_ms to limits in ms."""

    warmup_s: float = 0.0
    cooldown_s: float = 0.0
    slo: tuple[tuple[str, float], ...] = ()


def trial_metrics(cell: Cell, window: Window) -> Metrics:
    """All metrics of one cell; O(n log n)."""
    log, requests, times = cell.log, cell.requests, cell.times
    inside = _counted(times["arrival_s"], window)
    ok = inside & (np.array(log.status) == "ok")
    duration = _duration(log.finish_ns, log.arrival_ns)
    latencies = {
        "ttft_ms": 1e3 * times["ttft_s"],
        "tpot_ms": 1e3 * times["tpot_s"],
        "e2el_ms": 1e3 * times["e2e_s"],
    }
    metrics = _welfare(cell, inside)
    metrics["value_weighted_ttft_ms"] = _ratio(
        float((requests.value * latencies["ttft_ms"])[ok].sum()), float(requests.value[ok].sum())
    )
    metrics["hit_rate"] = _hit_rate(cell, inside)
    for name, values in latencies.items():
        metrics |= _distribution(name, values[ok])
    waits = (times["admitted_s"] - times["arrival_s"])[inside]
    waits = waits[~np.isnan(waits)]
    tokens = requests.prompt_tokens + np.array(log.output_tokens)
    span = _span(times["arrival_s"], window, duration) if inside.any() else None
    metrics |= {
        "max_wait_s": float(waits.max()) if len(waits) else None,
        "request_throughput": _ratio(float(ok.sum()), span),
        "total_token_throughput": _ratio(float(tokens[ok].sum()), span),
        "goodput": _ratio(float(_met(latencies, ok, window).sum()), span) if window.slo else None,
        "revenue": float(np.nansum(log.payment[inside])) if len(log.auctions) and inside.any() else None,
        "duration_s": duration,
    }
    return metrics


def status_counts(cell: Cell) -> dict[str, int]:
    """How many requests ended in each status, those that occur."""
    return dict(sorted(Counter(cell.log.status).items()))


def _counted(arrival_s: FloatArray, window: Window) -> BoolArray:
    if len(arrival_s) == 0:
        return np.zeros(0, dtype=np.bool_)
    first, last = np.nanmin(arrival_s) + window.warmup_s, np.nanmax(arrival_s) - window.cooldown_s
    return (arrival_s >= first) & (arrival_s <= last)


def _span(arrival_s: FloatArray, window: Window, duration: float | None) -> float | None:
    """Seconds that rates are per: the run's duration, or the window's length where one was cut out of it."""
    if window.warmup_s == window.cooldown_s == 0:
        return duration
    return float(np.nanmax(arrival_s) - np.nanmin(arrival_s)) - window.warmup_s - window.cooldown_s


def _welfare(cell: Cell, inside: BoolArray) -> Metrics:
    value, log, realised = cell.requests.value, cell.log, cell.realised
    cohort = cohort_of(log, saturated=cell.saturated)
    even = np.where(np.bincount(cohort + 1)[cohort + 1] > 1, 0.5, 1.0)
    ranked = inside & ~np.isnan(realised)
    if not ranked.any():
        return {"welfare": None, "scheduled_welfare": None, "welfare_pct_over_random": None}
    welfare, baseline = float(value[ranked] @ realised[ranked]), float(value[ranked] @ even[ranked])
    over = _ratio(welfare, baseline)
    return {
        "welfare": welfare,
        "scheduled_welfare": float(value[ranked] @ log.priority[ranked]),
        "welfare_pct_over_random": None if over is None else 100 * (over - 1),
    }


def _hit_rate(cell: Cell, inside: BoolArray) -> float | None:
    cached = np.array([np.nan if tokens is None else tokens for tokens in cell.log.cached_tokens], dtype=np.float64)
    said = inside & ~np.isnan(cached)
    return _ratio(float(cached[said].sum()), float(cell.requests.prompt_tokens[said].sum()))


def _distribution(name: str, values: FloatArray) -> Metrics:
    values = values[~np.isnan(values)]
    labels = (f"mean_{name}", f"median_{name}", f"p90_{name}", f"p95_{name}", f"p99_{name}")
    if len(values) == 0:
        return dict.fromkeys(labels)
    quantiles = np.percentile(values, [50, 90, 95, 99])
    return dict(zip(labels, [float(values.mean()), *map(float, quantiles)], strict=True))


def _met(latencies: dict[str, FloatArray], ok: BoolArray, window: Window) -> BoolArray:
    met = ok.copy()
    for name, limit in window.slo:
        # One output token has no TPOT, so a TPOT target cannot be missed by it.
        met &= ~(latencies[name] > limit)
    return met


def _duration(finish_ns: list[int | None], arrival_ns: list[int | None]) -> float | None:
    ends, starts = [t for t in finish_ns if t is not None], [t for t in arrival_ns if t is not None]
    return (max(ends) - min(starts)) / NS_PER_S if ends and starts else None


def _ratio(numerator: float, denominator: float | None) -> float | None:
    return None if not denominator else numerator / denominator

"""A reproduction without a simulation: every number is chosen, so every verdict is known."""

from __future__ import annotations

from typing import Any

from sim.reproduce.engine_settings import SETTINGS
from sim.reproduce.experiments import FIGURES, PACING, Experiment
from sim.reproduce.readings import Readings
from sim.reproduce.record import figure_record
from sim.reproduce.run_time import LONG, LONG_SIZES, SHORT, SHORT_SIZES, AuctionTimes, RunTimes
from sim.reproduce.text_source import SYNTHETIC

__all__ = ["pacing_summary", "readings_of", "record_of", "run_times", "summary"]

#: Schedule → welfare, % over random, hit rate, mean TTFT in ms, duration in s; of one trial.
AS_STATED = {
    "dfs-bid": (80.0, 20.0, 0.50, 10_000.0, 100.0),
    "dfs-uniform": (70.0, 5.0, 0.50, 10_000.0, 100.0),
    "bid-sort": (100.0, 50.0, 0.10, 24_000.0, 100.0),
    "no-sort": (67.0, 0.0, 0.10, 24_000.0, 100.0),
}
_NAMES = ("welfare", "welfare_pct_over_random", "hit_rate", "mean_ttft_ms", "duration_s")


def summary(trials: int = 4, spread: float = 0.0, **changed: tuple[float, ...]) -> dict[str, Any]:
    """A cell's summary; `changed` replaces a schedule's row (underscores for hyphens).

    Trial k has dfs-bid's welfare times 1 + `spread`·(−1)^k.
    """
    rows = {**AS_STATED, **{name.replace("_", "-"): row for name, row in changed.items()}}
    schedules = {}
    for label, row in rows.items():
        numbers = [dict(zip(_NAMES, row, strict=True)) for _ in range(trials)]
        if label == "dfs-bid":
            for place, number in enumerate(numbers):
                number["welfare"] *= 1 + spread * (-1) ** place
        schedules[label] = {"trials": numbers}
    return {"schedules": schedules}


def pacing_summary(loss_pct: float, trials: int = 4, violations: int = 0) -> dict[str, Any]:
    """A cell's summary of pacing, four levels of budgets alike, two auctions."""
    row = {"welfare_vs_truthful_pct": loss_pct, "guaranteed_pct": -80.0, "bound_violations": violations, "overspent": 0}
    series = {"mean": [loss_pct, loss_pct], "se": [0.5, 0.5], "n": [trials, trials]}
    names = ("welfare_vs_truthful_pct", "guaranteed_pct")
    level = {
        "trials": [dict(row) for _ in range(trials)],
        "auctions": {"auction": [0, 1], **{f"{kind}{name}": series for kind in ("", "cumulative_") for name in names}},
        "bound_violations": violations,
        "overspent": 0,
        "spent_pct": 90.0,
        "regret_pct": 12.0,
    }
    labels = ("10-100 %", "10 %", "50 %", "100 %")
    return {**summary(trials), "pacing": {"schedules": dict.fromkeys(labels, level)}}


def run_times(trials: int = 4) -> RunTimes:
    """Tree 4 µs a request, schedule and payments 0.5 µs each, the definition 1 µs a pair of requests: exact powers."""
    rows = []
    for series, sizes in ((LONG, LONG_SIZES), (SHORT, SHORT_SIZES)):
        for n in sizes:
            linear, pairs = (4e-6 * n,) * trials, (1e-6 * n * n,) * trials
            small = (5e-7 * n,) * trials
            naive = pairs if series == LONG else None
            rows.append(
                AuctionTimes(
                    series=series, n=n, prompt_tokens=950.0, tree_s=linear, schedule_s=small, payments_s=small,
                    naive_s=naive,
                )
            )  # fmt: skip
    return RunTimes(tuple(rows), "a machine of our own")


def readings_of(figure: str, summaries: dict[Experiment, Any] | None = None, trials: int = 4) -> list[Readings]:
    """What every setting of a figure measured: the chosen summaries, else `AS_STATED`."""
    chosen = summaries or {}
    found: dict[Experiment, Any] = {}
    for each in FIGURES[figure].experiments():
        usual = pacing_summary(-5.0, trials) if each in PACING.values() else summary(trials)
        found[each] = chosen.get(each, usual)
    times = run_times(trials) if figure == "runtime" else None
    return [Readings(setting.name, found, times) for setting in SETTINGS if setting in FIGURES[figure].settings]


def record_of(figure: str, summaries: dict[Experiment, Any] | None = None, trials: int = 4) -> dict[str, Any]:
    """A figure's record."""
    return figure_record(FIGURES[figure], readings_of(figure, summaries, trials), SYNTHETIC, seed=0, trials=trials)

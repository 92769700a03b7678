"""The same scenario on a live server, again and again, and simulated: do they agree, and does the server with itself?

A simulated run generates the live run's own output tokens, so what enters the cache after a prompt is the same. Which
requests meet in one pass is decided by the server's clock: with one request inside the engine, or all queued at once,
nothing depends on it; in between the server differs from itself, and no agreement better than that is claimed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sim.backend import BackendConfig, Limits
from sim.errors import NothingServedError
from sim.fidelity import Agreement, agreement, mean_agreement
from sim.replayed_outputs import Fed, Recording
from sim.scenario import Scenario
from sim.simulate import Progress, RunResult, run

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ScheduleFidelity", "Validation", "Verdict", "validate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One measure of one schedule against its threshold.

    Attributes
    ----------
    error : simulated against live, mean over the live runs.
    spread : the server against itself, mean over pairs of live runs; None with one run.
    claimed : the worse of the two: what may be said.
    threshold : None = shown, not judged.
    """

    measure: str
    error: float | None
    spread: float | None
    threshold: float | None

    @property
    def claimed(self) -> float | None:
        """The worse of error and spread."""
        worse = min if self.measure == "order_tau" else max
        known = [value for value in (self.error, self.spread) if value is not None]
        return worse(known) if known and self.error is not None else None

    @property
    def passed(self) -> bool:
        """Nothing measured passes nothing."""
        if self.threshold is None:
            return True
        return self.claimed is not None and self._within(self.claimed, self.threshold)

    @property
    def server_wanders(self) -> bool:
        """Whether two runs of the server differ by more than the threshold: then no simulation could pass."""
        if self.threshold is None or self.spread is None:
            return False
        return not self._within(self.spread, self.threshold)

    def _within(self, value: float, threshold: float) -> bool:
        return value >= threshold if self.measure == "order_tau" else value <= threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFidelity:
    """One schedule: agreement with the live runs, the live runs' with each other, and the verdicts.

    Attributes
    ----------
    ours, own : means over live runs and over pairs of live runs; own is None with one run.
    equal_pct, own_equal_pct : requests with the same cached tokens, %: one figure a live run, and one a pair of them.
    """

    schedule: str
    ours: Agreement
    own: Agreement | None
    equal_pct: tuple[float, ...]
    own_equal_pct: tuple[float, ...]
    evicting: bool
    verdicts: tuple[Verdict, ...]


@dataclass(slots=True, kw_only=True)
class Validation:
    """What validation found; `live` and `simulated` are the records of all runs, for the page."""

    scenario: str
    runs: int
    in_flight: int | None
    schedules: list[ScheduleFidelity]
    server: dict[str, Any]
    profile: Mapping[str, Any]
    live: list[pl.DataFrame]
    simulated: list[pl.DataFrame]
    warnings: list[str]

    @property
    def passed(self) -> bool:
        """Whether every judged measure of every schedule holds."""
        return all(verdict.passed for each in self.schedules for verdict in each.verdicts)

    def to_json(self) -> dict[str, Any]:
        """Without the records."""
        return {
            "scenario": self.scenario,
            "passed": self.passed,
            "runs": self.runs,
            "in_flight": self.in_flight,
            "schedules": {
                each.schedule: {
                    "evicting": each.evicting,
                    "measures": {
                        v.measure: {**asdict(v), "claimed": v.claimed, "passed": v.passed} for v in each.verdicts
                    },
                    "same_cached_tokens_pct": {
                        "simulated_against_live": list(each.equal_pct),
                        "live_against_live": list(each.own_equal_pct),
                    },
                    "simulated_against_live": asdict(each.ours),
                    "live_against_live": None if each.own is None else asdict(each.own),
                }
                for each in self.schedules
            },
            "server": self.server,
            "warnings": self.warnings,
        }


def validate(
    scenario: Scenario,
    simulated: Callable[[Mapping[str, Any]], AbstractContextManager[BackendConfig]],
    profile: Mapping[str, Any],
    runs: int,
    progress: Progress = lambda *_: None,
) -> Validation:
    """Run the scenario live `runs` times, and simulated for each of them.

    Parameters
    ----------
    scenario : its backend is the live server; its `validation` block holds the thresholds.
    simulated : makes the simulated server of a profile.
    profile : the latencies; the server's own settings replace those it was measured with.

    Raises
    ------
    NothingServedError
        No live run served anything.
    BackendError
        The server is not ready.
    """
    live, ours, warnings = list[RunResult](), list[RunResult](), list[str]()
    used: Mapping[str, Any] = profile
    with scenario.backend.config.open() as opened:
        for number in range(runs):
            recording = Recording(opened)
            live.append(run(scenario, recording, progress=_named(progress, f"live {number + 1}")))
            _look_at(live[-1], number, warnings)
            used = _as_it_is(profile, live[-1].server, recording.limits, warnings)
            with simulated(used) as config:
                fed = Fed(config, recording.outputs, live[-1].server.get("prompt_ids") == "own")
                ours.append(run(scenario, fed, progress=_named(progress, f"simulated {number + 1}")))
            if live[-1].status != "complete":
                break
    return Validation(
        scenario=scenario.name,
        runs=len(live),
        in_flight=scenario.dispatch.in_flight,
        schedules=[_fidelity(scenario, entry.label, live, ours) for entry in scenario.schedules],
        server=live[0].server,
        profile=used,
        live=[_requests(each) for each in live],
        simulated=[_requests(each) for each in ours],
        warnings=warnings,
    )


def _named(progress: Progress, name: str) -> Progress:
    return lambda left, total, label, trial: progress(left, total, f"{name}: {label}", trial)


def _look_at(result: RunResult, number: int, warnings: list[str]) -> None:
    said = [f"Live run {number + 1}: {each}" for each in result.warnings]
    warnings += said if number == 0 else [each for each in said if each.partition(": ")[2] not in "\n".join(warnings)]
    if result.status == "interrupted":
        raise KeyboardInterrupt
    if result.num_ok == 0:
        raise NothingServedError(f"Live run {number + 1} served nothing: {result.statuses}.")


def _as_it_is(
    profile: Mapping[str, Any], facts: Mapping[str, Any], limits: Limits, warnings: list[str]
) -> Mapping[str, Any]:
    """The profile with the settings of the server as it is now; what differs from its own is said once."""
    then = {**(profile.get("server") or {}), "kv_tokens": profile.get("kv_tokens")}
    for key, value in facts.items():
        if key in then and then[key] != value and key not in {"url", "prompt_ids", "runs"}:
            message = f"The profile was measured at {key} = {then[key]}; the server has {value}, which is simulated."
            if message not in warnings:
                warnings.append(message)
    server = {key: value for key, value in facts.items() if key != "runs"}
    capacity = limits.kv_tokens or profile.get("kv_tokens")
    return {**profile, "kv_tokens": capacity, "server": {**server, "context_tokens": limits.context_tokens}}


def _fidelity(scenario: Scenario, label: str, live: list[RunResult], ours: list[RunResult]) -> ScheduleFidelity:
    import polars as pl

    def rows(result: RunResult) -> pl.DataFrame:
        return _requests(result).filter(pl.col("schedule") == label)

    compare = functools.partial(agreement, saturated=scenario.saturated)
    pairs = [(rows(mine), rows(theirs)) for mine, theirs in zip(ours, live, strict=True)]
    with_live = [compare(mine, theirs, mine) for mine, theirs in pairs]
    mean = mean_agreement(with_live)
    assert mean is not None
    live_pairs = [compare(one, other, mine) for (mine, one), (_, other) in combinations(pairs, 2)]
    own = mean_agreement(live_pairs)
    steps = pl.concat([frame for result in ours for frame in result.frames["engine_steps"]])
    evicting = int(steps.filter(pl.col("schedule") == label)["evicted_tokens"].sum()) > 0
    verdicts = tuple(
        Verdict(
            measure=measure,
            error=getattr(mean, measure),
            spread=None if own is None else getattr(own, measure),
            threshold=threshold,
        )
        for measure, threshold in scenario.validation.thresholds(evicting=evicting).items()
    )
    return ScheduleFidelity(
        schedule=label,
        ours=mean,
        own=own,
        equal_pct=_equal_pct(with_live),
        own_equal_pct=_equal_pct(live_pairs),
        evicting=evicting,
        verdicts=verdicts,
    )


def _equal_pct(several: Sequence[Agreement]) -> tuple[float, ...]:
    shares = [each.cached_equal_pct for each in several]
    return tuple(share for share in shares if share is not None)


def _requests(result: RunResult) -> pl.DataFrame:
    """The records of a run with the pass that each first token came of, where a simulation knows it."""
    import polars as pl

    cells = zip(result.frames["requests"], result.computed_ns, strict=True)
    return pl.concat([frame.with_columns(pl.Series("pass", passes, dtype=pl.Int64)) for frame, passes in cells])

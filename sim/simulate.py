"""The main job: every schedule of a scenario on the same requests, trial after trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mechanism.bidding.truthful import Truthful
from mechanism.model import Bidder
from sim import records
from sim.auctioneer import TreeCache
from sim.backend import Backend, BackendConfig, Notes
from sim.bidding_setup import bidding_of
from sim.clock import seconds_to_ns
from sim.errors import BackendError
from sim.market import Market, MarketRules
from sim.metrics import Metrics, Window, status_counts, trial_metrics
from sim.pacing import PacedCell, measure_pacing
from sim.pacing_summary import summarise_pacing
from sim.population import Population
from sim.records import Cell
from sim.requests import RequestTable
from sim.run_log import RunLog
from sim.run_warnings import about_cell, about_requests
from sim.scenario import Scenario, ScheduleEntry
from sim.summary import summarise
from sim.tree_summary import tree_summary

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Progress", "RunResult", "run"]

#: Called with (finished requests of the cell, requests of the cell, schedule label, trial).
Progress = Callable[[int, int, str, int], None]
BoolArray = npt.NDArray[np.bool_]

FRAMES = {
    "requests": records.request_frame,
    "auctions": records.auction_frame,
    "payments": records.payment_frame,
    "engine_steps": records.engine_step_frame,
}


@dataclass(slots=True)
class RunResult:
    """What a run leaves: frames by file name, the summary, and what happened on the way.

    `status` is "interrupted" when the run was stopped, "failed" when its server was lost on the way: the frames then
    hold what was measured, requests that had not left are `incomplete`, and the summary's means are over finished
    cells only. `facts` is what the workload measured of its first trial (`Demand.facts`). `server` is what a live
    server says about itself; empty for a simulation. `computed_ns` (`RunLog.computed_ns`) stands beside the frames, one
    list a cell.
    """

    frames: dict[str, list[pl.DataFrame]] = field(default_factory=lambda: {name: [] for name in FRAMES})
    trials: dict[str, list[Metrics]] = field(default_factory=dict)
    statuses: dict[str, dict[str, int]] = field(default_factory=dict)
    status: str = "complete"
    auction_s: float = 0.0
    tree: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    server: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    pacing: list[PacedCell] = field(default_factory=list)
    computed_ns: list[list[int | None]] = field(default_factory=list)

    @property
    def num_ok(self) -> int:
        """Requests that were served, over all schedules and trials."""
        return sum(counts.get("ok", 0) for counts in self.statuses.values())

    def take(self, cell: Cell, notes: Notes, window: Window, *, finished: bool, records: bool) -> None:
        """Take in one cell: its frames, if `records`, its statuses, and, when it is finished and valid, its metrics."""
        if records:
            for name, frame in FRAMES.items():
                self.frames[name].append(frame(cell))
            self.computed_ns.append(cell.log.computed_ns)
        counts = self.statuses.setdefault(cell.schedule, {})
        for status, number in status_counts(cell).items():
            counts[status] = counts.get(status, 0) + number
        self.auction_s += cell.log.auction_s
        self.server |= notes.facts
        if notes.checks:
            checks = {"schedule": cell.schedule, "trial": cell.trial, **notes.checks}
            self.server.setdefault("runs", []).append(checks)
        for warning in notes.warnings:
            self.warn(warning)
        if notes.invalid is not None:
            self.status = "failed"
            self.warn(f"{cell.schedule}, trial {cell.trial}: left out of every mean: {notes.invalid}")
        elif finished:
            self.trials[cell.schedule].append(trial_metrics(cell, window))

    def warn(self, message: str) -> None:
        """Remember a sentence for the person at the keyboard, once."""
        if message not in self.warnings:
            self.warnings.append(message)


def run(
    scenario: Scenario, backend: BackendConfig, *, progress: Progress = lambda *_: None, records: bool = True
) -> RunResult:
    """Simulate, or measure, a scenario; Ctrl-C ends it early and keeps what was measured.

    Parameters
    ----------
    backend : who serves; opened once, a fresh one is created for every cell.
    progress : called whenever a request leaves.
    records : keep the frames; without them a run leaves its summary only, and needs less memory.

    Raises
    ------
    ScenarioError
        The workload cannot be generated.
    InvariantError
        A cell made no progress.
    BackendError
        A server is not ready, and nothing was measured yet.
    """
    result = RunResult(trials={entry.label: [] for entry in scenario.schedules})
    population = Population(scenario)
    window = Window(warmup_s=scenario.warmup_s, cooldown_s=scenario.cooldown_s, slo=scenario.slo)
    try:
        with backend.open() as opened:
            for trial in range(scenario.trials):
                requests, demand = population.requests(trial)
                result.dropped |= demand.dropped
                result.facts = result.facts or dict(demand.facts)
                for warning in (*demand.warnings, *about_requests(scenario, requests)):
                    result.warn(warning)
                _run_trial(_Trial(scenario, opened, requests, trial, TreeCache()), result, window, progress, records)
    except KeyboardInterrupt:
        result.status = "interrupted"
    except BackendError as error:
        if not result.statuses:
            raise
        result.status = "failed"
        result.warn(str(error))
    seeds = {
        "seed": scenario.seed,
        "trials": scenario.trials,
        "stream": "PCG64(SeedSequence(seed, (trial, crc32(name))))",
    }
    result.summary = summarise(result.trials, result.statuses, seeds)
    if result.pacing:
        result.summary["pacing"] = summarise_pacing(result.pacing)
    return result


@dataclass(frozen=True, slots=True)
class _Trial:
    """One trial's requests, and how a mechanism is run on them."""

    scenario: Scenario
    backend: BackendConfig
    requests: RequestTable
    number: int
    trees: TreeCache

    def market(
        self, entry: ScheduleEntry, bidding: Callable[[BoolArray], Bidder], progress: Progress
    ) -> tuple[Market, Backend]:
        """A market for one mechanism, and its fresh server."""
        server = self.backend.create(self.requests, entry.label, self.number)
        rules = _rules(self.scenario, entry, bidding)

        def left(number: int) -> None:
            progress(number, len(self.requests), entry.label, self.number)

        return Market(self.backend.environment(), self.requests, server, rules, self.trees, left), server

    def bidding(self, entry: ScheduleEntry) -> Callable[[BoolArray], Bidder]:
        """What makes the bidder of a mechanism."""

        def run_truthfully() -> RunLog:
            return self.market(entry, lambda _: Truthful(), lambda *_: None)[0].run()

        return bidding_of(self.scenario, entry, self.requests, self.number, self.trees, run_truthfully)


def _run_trial(trial: _Trial, result: RunResult, window: Window, progress: Progress, records: bool) -> None:
    requests, saturated = trial.requests, trial.scenario.saturated
    for entry in trial.scenario.schedules:
        market, server = trial.market(entry, trial.bidding(entry), progress)
        cell = Cell(entry.label, trial.number, saturated, requests, market.log)
        try:
            market.run()
        except KeyboardInterrupt:
            result.take(cell, server.notes, window, finished=False, records=records)
            raise
        result.take(cell, server.notes, window, finished=True, records=records)
        paced = measure_pacing(trial.scenario, entry, cell, trial.trees)
        if paced is not None:
            result.pacing.append(paced)
        for warning in about_cell(entry, cell, trial.backend.card()):
            result.warn(warning)
        if result.tree is None and market.log.auctions:
            result.tree = _first_tree(requests, market.log, trial.trees)


def _rules(scenario: Scenario, entry: ScheduleEntry, bidding: Callable[[BoolArray], Bidder]) -> MarketRules:
    return MarketRules(
        schedule=entry.rule,
        pricing=entry.pricing,
        bidding=bidding,
        batch_size=scenario.batching.size,
        max_wait_ns=seconds_to_ns(scenario.batching.max_wait_s),
        in_flight=scenario.dispatch.in_flight,
        closed_loop=scenario.closed_loop,
    )


def _first_tree(requests: RequestTable, log: RunLog, trees: TreeCache) -> dict[str, Any]:
    batch = np.sort(log.auctions[0].members)
    return tree_summary(trees.tree(requests, batch), log.bid[batch], requests.value[batch])

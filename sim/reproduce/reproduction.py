"""The whole: cells of the figures that are asked for, run times, records; pages are made of the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim.errors import InvariantError, NothingServedError
from sim.reproduce.engine_settings import SETTINGS, EngineSetting
from sim.reproduce.experiments import FIGURES, Experiment, Figure, scenario_of
from sim.reproduce.readings import Readings
from sim.reproduce.record import Json, figure_record
from sim.reproduce.run_time import LONG, LONG_SIZES, SHORT, SHORT_SIZES, RunTimes, measure_run_times
from sim.reproduce.text_source import SYNTHETIC, TextSource
from sim.run_folder import strict_json, write_text
from sim.sweep import Point, Progress, run_points

__all__ = ["Plan", "Summaries", "run_cells", "time_auctions", "write_records"]

#: Series → sizes of the run times.
SIZES: Mapping[str, tuple[int, ...]] = {LONG: LONG_SIZES, SHORT: SHORT_SIZES}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to reproduce, how well, and where to.

    Attributes
    ----------
    figures : names of `FIGURES`.
    trials : seeds of every point; the paper has three.
    out : gets cells/, a record of every figure, and its pages.
    jobs : cells at a time; None = one for each processor.
    """

    figures: tuple[str, ...]
    out: Path
    text: TextSource = SYNTHETIC
    seed: int = 0
    trials: int = 10
    jobs: int | None = 1
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: SIZES)

    def points(self) -> list[tuple[Experiment, EngineSetting]]:
        """All that must run, each once; Figure 4's first, for they take longest."""
        figures = sorted((FIGURES[name] for name in self.figures), key=lambda figure: figure.name != "fig4")
        every = [(each, setting) for f in figures for setting in f.settings for each in f.experiments()]
        return list(dict.fromkeys(every))


#: (experiment, setting's name) → the cell's summary (summary.json's content).
Summaries = Mapping[tuple[Experiment, str], Mapping[str, Any]]


def run_cells(plan: Plan, backend_types: Mapping[str, type[Any]], progress: Progress = lambda *_: None) -> Summaries:
    """Simulate what is missing; the same call again simulates nothing.

    Raises
    ------
    ScenarioError
        A scenario cannot be made.
    InvariantError, NothingServedError
        Some cells failed, or all; what is finished is kept.
    KeyboardInterrupt
        It was interrupted; what is finished is kept.
    """
    wanted = plan.points()
    make = {"seed": plan.seed, "trials": plan.trials}
    scenarios = [scenario_of(each, setting, plan.text, backend_types, **make) for each, setting in wanted]
    points = [Point({}, scenario) for scenario in scenarios]
    plan.out.mkdir(parents=True, exist_ok=True)
    outcome = run_points(points, plan.out, backend_types, jobs=plan.jobs, progress=progress)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failures:
        place, why = min(outcome.failures.items())
        experiment, setting = wanted[place]
        message = (
            f"{len(outcome.failures)} of {len(wanted)} cells failed, the first of {experiment.shape}, {setting.name}: "
            f"{why} What is finished is kept in {plan.out / 'cells'}; the same command tries the others again."
        )
        raise (NothingServedError if len(outcome.failures) == len(wanted) else InvariantError)(message)
    cells = zip(wanted, outcome.cells, strict=True)
    return {(each, setting.name): cell["summary"] for (each, setting), cell in cells if cell is not None}


def time_auctions(
    plan: Plan, backend_types: Mapping[str, type[Any]], progress: Callable[[int, int], None] = lambda *_: None
) -> RunTimes | None:
    """Time the auction itself, if the plan asks for it: anew in every call, for it is a measurement of this machine."""
    if "runtime" not in plan.figures:
        return None
    return measure_run_times(backend_types, seed=plan.seed, trials=plan.trials, sizes=plan.sizes, progress=progress)


def write_records(plan: Plan, summaries: Summaries, times: RunTimes | None) -> dict[str, Json]:
    """Judge every claim and write ``<figure>.json`` for every figure; returns them by name."""
    records = {}
    for name in plan.figures:
        readings = _readings(FIGURES[name], summaries, times if name == "runtime" else None)
        records[name] = figure_record(FIGURES[name], readings, plan.text, plan.seed, plan.trials)
        write_text(plan.out / f"{name}.json", strict_json(records[name]))
    return records


def _readings(figure: Figure, summaries: Summaries, times: RunTimes | None) -> Sequence[Readings]:
    experiments = figure.experiments()
    return [
        Readings(setting.name, {each: summaries[each, setting.name] for each in experiments}, times)
        for setting in SETTINGS
        if setting in figure.settings
    ]

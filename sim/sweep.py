"""Large sweeps: many scenarios, each a cell that is run once, whoever asks and however often it is interrupted."""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.sweep_cell import CellTask, cell_key, read_cell
from sim.sweep_frame import results_frame
from sim.sweep_pool import Finished, in_process, in_workers, on_ray

__all__ = [
    "Cells",
    "Plan",
    "Point",
    "Progress",
    "SweepOutcome",
    "Workers",
    "is_live",
    "plan_points",
    "results_frame",
    "run_plan",
    "run_points",
]

#: Called with (cells there, failures, cells in all).
Progress = Callable[[int, int, int], None]
Status = Literal["complete", "partial"]


@dataclass(frozen=True, slots=True)
class Point:
    """One cell of a sweep: a scenario with all its schedules and trials, and the axes' values that make it."""

    settings: dict[str, Any]
    scenario: Scenario


@dataclass(frozen=True, slots=True)
class Cells(Sequence["dict[str, Any] | None"]):
    """The cells' files by point, each read when asked for; None where a cell failed or was not run."""

    folder: Path
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any] | None: ...
    @overload
    def __getitem__(self, index: slice) -> Cells: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | Cells | None:
        if isinstance(index, slice):
            return Cells(self.folder, self.keys[index])
        return read_cell(self.folder, self.keys[index])


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What became of the points.

    Attributes
    ----------
    cells : the cell files' content by point; equal scenarios share one cell.
    failures : point → why its cell failed in this call; it is tried again in the next.
    num_there : points whose cell is there.
    status : "complete" when every cell is there.
    interrupted : whether Ctrl-C ended the call.
    """

    cells: Cells
    failures: dict[int, str]
    num_there: int
    status: Status
    interrupted: bool


def run_points(
    points: Sequence[Point],
    folder: Path,
    backend_types: Mapping[str, type[Any]],
    *,
    jobs: int | None = 1,
    executor: str = "local",
    address: str | None = None,
    progress: Progress = lambda *_: None,
) -> SweepOutcome:
    """Run every cell that is not there yet; Ctrl-C and ``kill -9`` lose the cells under way, no other.

    Every point is made, and so checked, before the first cell runs.

    Parameters
    ----------
    points : may make its points when they are asked for; none is kept.
    folder : gets ``cells/<key>.json`` for what is finished and ``failures/<key>.json`` for what failed.
    backend_types : backend name → configuration dataclass, which workers import by name.
    jobs : cells at a time; None = one for each processor, and 1 for a live server.
    executor : "local" or "ray"; `address` is that of a Ray cluster, whose machines must all see `folder`.

    Raises
    ------
    ScenarioError
        A live server shared by several jobs, another call at work in `folder`, or what making a point raises.
    OSError
        A cell cannot be written.
    """
    workers = Workers(jobs, executor, address)
    return run_plan(plan_points(points, workers), folder, backend_types, workers, progress)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who runs the cells; parameters as of `run_points`."""

    jobs: int | None = 1
    executor: str = "local"
    address: str | None = None

    def run(self, tasks: Iterable[CellTask], num_cells: int, *, live: bool) -> Iterator[Finished]:
        """Run the cells, which are `num_cells`; they come back as they finish."""
        if live or num_cells == 0:
            return in_process(tasks)
        if self.executor == "ray":
            return on_ray(tasks, self.jobs, self.address)
        from joblib import cpu_count

        return in_workers(tasks, min(self.jobs or cpu_count(), num_cells))


@dataclass(frozen=True, slots=True)
class Plan:
    """Points that are all in order, the names of their cells, and whether a live server answers."""

    points: Sequence[Point]
    keys: tuple[str, ...]
    live: bool


def plan_points(points: Sequence[Point], workers: Workers, progress: Progress = lambda *_: None) -> Plan:
    """Make, and so check, every point once; none is kept. Errors as of `run_points`."""
    keys, live = [], False
    for point in points:
        keys.append(cell_key(point.scenario))
        live = live or is_live(point.scenario)
        progress(len(keys), 0, len(points))
    if live and (workers.jobs not in {None, 1} or workers.executor != "local"):
        found = f"{workers.jobs} jobs" if workers.executor == "local" else f"the executor {workers.executor}"
        raise ScenarioError("--jobs", found, "1 job of the local executor: the cells share one live server")
    return Plan(points, tuple(keys), live)


def run_plan(
    plan: Plan, folder: Path, backend_types: Mapping[str, type[Any]], workers: Workers, progress: Progress
) -> SweepOutcome:
    """Run every cell of a plan that is not there yet; see `run_points`."""
    for name in ("cells", "failures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    first = {key: index for index, key in reversed(list(enumerate(plan.keys)))}
    interrupted = False
    with _alone_in(folder):
        tally = _Tally(plan.keys, folder, progress)
        tasks = (_task(plan.points[first[key]].scenario, key, folder, backend_types) for key in tally.missing)
        try:
            for key, error in workers.run(tasks, len(tally.missing), live=plan.live):
                tally.take(key, error)
        except KeyboardInterrupt:
            interrupted = True
    failures = {index: tally.errors[key] for index, key in enumerate(plan.keys) if key in tally.errors}
    status: Status = "complete" if tally.done == len(plan.keys) else "partial"
    return SweepOutcome(Cells(folder, plan.keys), failures, tally.done, status, interrupted)


def is_live(scenario: Scenario) -> bool:
    """Whether a real server answers: its figures come from no latency profile."""
    return scenario.backend.config.card() is None


class _Tally:
    """How far a sweep has come: `done` points of `keys`, the `missing` cells at its start, `errors` by key."""

    def __init__(self, keys: Sequence[str], folder: Path, progress: Progress) -> None:
        self._points, self._progress = Counter(keys), progress
        self.missing = [key for key in self._points if read_cell(folder, key) is None]
        self.done = len(keys) - sum(self._points[key] for key in self.missing)
        self.errors: dict[str, str] = {}
        self._tell()

    def take(self, key: str, error: str | None) -> None:
        if error is None:
            self.done += self._points[key]
        else:
            self.errors[key] = error
        self._tell()

    def _tell(self) -> None:
        self._progress(self.done, len(self.errors), self._points.total())


def _task(scenario: Scenario, key: str, folder: Path, backend_types: Mapping[str, type[Any]]) -> CellTask:
    return CellTask(key, scenario.resolved(), str(scenario.path), folder.resolve(), backend_types)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep a second call out of the folder; the system lets go of the lock however a process ends."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Wait for it, or end it: what it finished is kept."
            raise ScenarioError(str(folder), "another sweep at work there", "a folder of one's own", hint) from None
        for leftover in (folder / "cells").glob(".*.partial"):
            leftover.unlink()  # of a call that was killed while it wrote
        yield

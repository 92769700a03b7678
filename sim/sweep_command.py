"""The `sweep` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli_options import BackendOption, JsonOption, QuietOption, ScenarioArgument, SeedOption, TrialsOption
from sim.cli_output import print_json, print_table, say
from sim.errors import InvariantError, NothingServedError, ScenarioError

if TYPE_CHECKING:
    from sim.sweep import SweepOutcome
    from sim.sweep_design import SweepOptions
    from sim.sweep_folder import SweepFolder

__all__ = ["Executor", "sweep_command"]


class Executor(StrEnum):
    """Where cells run."""

    local = "local"
    ray = "ray"


Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=A,B,…", help="Every combination of these; one value: for every point."),
]
Zips = Annotated[
    list[str] | None, typer.Option("--zip", metavar="KEY=A,B,…", help="Keys that step together; repeatable.")
]
RandomPoints = Annotated[
    int | None, typer.Option("--random", min=1, metavar="N", help="Draw N points from the ranges (Latin hypercube).")
]
Ranges = Annotated[
    list[str] | None,
    typer.Option("--range", metavar="KEY=LOW,HIGH[,log][,integer]", help="Where --random draws from; repeatable."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", help="Cells at a time; default: one for each processor."),
]
ExecutorOption = Annotated[Executor, typer.Option("--executor", help="This machine, or a Ray cluster.")]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="A", help="A running Ray cluster, which sees --out; default: one started here."),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where sweep folders go.")]


def sweep_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], _late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; a sweep writes no page, so it needs nothing late."""

    def sweep(
        scenario: ScenarioArgument,
        sets: Sets = None,
        zips: Zips = None,
        random: RandomPoints = None,
        ranges: Ranges = None,
        seed: SeedOption = None,
        trials: TrialsOption = None,
        backend: BackendOption = None,
        jobs: Jobs = None,
        executor: ExecutorOption = Executor.local,
        address: Address = None,
        out: Out = Path("runs/sweeps"),
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Run a scenario at many points, each once: what is finished is kept, and the same command resumes.

        Exit codes: 0 every cell is there; 5 some failed, the same command tries them again; 4 none succeeded.
        """
        from sim.sweep import Workers, run_plan
        from sim.sweep_design import SweepOptions
        from sim.sweep_progress import cells_bar

        if address is not None and executor is not Executor.ray:
            raise ScenarioError("--address", address, "--executor ray beside it")
        options = SweepOptions(
            sets=sets or (), zips=zips or (), random=random, ranges=ranges or (), seed=seed, trials=trials
        )
        workers, types = Workers(jobs, executor.value, address), backend_types()
        folder = _planned(scenario, options, backend, out, types, workers, show=not quiet)
        folder.prepare()
        with cells_bar("cells", show=not quiet) as progress:
            outcome = run_plan(folder.plan, folder.path, types, workers, progress)
        description, num_served = folder.finish(outcome)
        if as_json:
            print_json({**description, "sweep_dir": str(folder.path)})
        elif not quiet:
            _show(folder, outcome)
        _end(folder, outcome, num_served)

    return sweep


def _planned(
    scenario: str,
    options: SweepOptions,
    backend: str | None,
    out: Path,
    types: Mapping[str, type[Any]],
    workers: Any,
    *,
    show: bool,
) -> SweepFolder:
    """The sweep with every point checked, and its folder's name."""
    from sim.scenario import open_scenario
    from sim.sweep import plan_points
    from sim.sweep_design import read_design
    from sim.sweep_folder import SweepFolder, sweep_path
    from sim.sweep_points import SweepPoints
    from sim.sweep_progress import cells_bar

    source = open_scenario(scenario, backend)
    design = read_design(source, options)
    points = SweepPoints(source, design, types)
    with cells_bar("checking points", show=show) as progress:
        plan = plan_points(points, workers, progress)
    name = points[0].scenario.name
    return SweepFolder(sweep_path(out, name, design.digest(points.base)), name, design, plan)


def _show(folder: SweepFolder, outcome: SweepOutcome) -> None:
    from sim.sweep_table import sweep_table

    settings = [folder.design.settings(index) for index in range(min(len(folder.design), 1000))]
    print_table(sweep_table(settings, outcome.cells, outcome.failures))
    typer.echo(f"results: {folder.path / 'results.parquet'}")
    typer.echo(f"page:    inference-auctions compare {folder.path}")
    typer.echo(f'polars:  pl.read_parquet("{folder.path / "results.parquet"}")')


def _end(folder: SweepFolder, outcome: SweepOutcome, num_served: int) -> None:
    """Say what is missing, and leave with the exit code for it."""
    from sim.sweep_points import setting_text

    cells = len(folder.plan.keys)
    for index, error in list(outcome.failures.items())[:5]:
        settings = ", ".join(f"{key}={setting_text(value)}" for key, value in folder.design.settings(index).items())
        say(f"point {index} ({settings}) failed: {error}")
    if outcome.interrupted:
        say(f"interrupted: {outcome.num_there:,} of {cells:,} cells are in {folder.path}; the same command goes on")
        raise typer.Exit(130)
    if outcome.num_there == 0:
        raise NothingServedError(f"all {cells:,} cells failed; see {folder.path / 'failures'}")
    if outcome.failures:
        failed = f"{len(outcome.failures):,} of {cells:,} cells failed; see {folder.path / 'failures'}"
        raise InvariantError(f"{failed}. The same command tries them again.")
    if num_served == 0:
        raise NothingServedError(f"no request was served in any cell; see the statuses in {folder.path / 'cells'}")

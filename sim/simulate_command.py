"""The `simulate` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli_options import (
    BackendOption,
    JsonOption,
    OutOption,
    QuietOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    TrialsOption,
)
from sim.cli_output import print_json, print_table, say
from sim.errors import BackendError, NothingServedError

if TYPE_CHECKING:
    from sim.scenario import Scenario
    from sim.simulate import RunResult

__all__ = ["simulate_command"]

Url = Annotated[str | None, typer.Option("--url", help="Address of a live server (backend.url).")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write records only, no page.")]
ExportTrace = Annotated[
    Path | None, typer.Option("--export-trace", metavar="FILE", help="Also write the requests of trial 0.")
]


def simulate_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; `late` gives functions of the rooms above by "module:name"."""
    write_pages = late("reports.pages:write_pages")

    def simulate(
        scenario: ScenarioArgument,
        overrides: SetOption = None,
        seed: SeedOption = None,
        trials: TrialsOption = None,
        backend: BackendOption = None,
        url: Url = None,
        out: OutOption = Path("runs"),
        no_report: NoReport = False,
        export_trace: ExportTrace = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Run every schedule of a scenario on the same requests, compare them, and write a report."""
        from sim.export_trace import export_first_trial
        from sim.progress_bar import serving_bar
        from sim.run_folder import check_folder
        from sim.scenario import load_scenario
        from sim.simulate import run

        started = datetime.now(UTC)
        settings = [*(overrides or []), *([f"backend.url={url}"] if url else [])]
        loaded = load_scenario(scenario, backend_types(), settings, backend=backend, seed=seed, trials=trials)
        check_folder(out)
        if export_trace is not None:
            export_first_trial(loaded, export_trace)
        with serving_bar(loaded.trials, show=not quiet) as progress:
            result = run(loaded, loaded.backend.config, progress=progress)
        for warning in result.warnings:
            say(f"warning: {warning}")
        if not result.statuses:
            say("interrupted before anything was measured; nothing was written")
            raise typer.Exit(130)
        folder = _save(loaded, result, started, out)
        pages = [] if no_report else _pages(write_pages, folder)
        _show(loaded, result, folder, pages, as_json=as_json, quiet=quiet)

    return simulate


def _save(scenario: Scenario, result: RunResult, started: datetime, out: Path) -> Path:
    from sim.save_run import save_run

    try:
        return save_run(scenario, result, profile=scenario.backend.config.card(), started=started, parent=out)
    except KeyboardInterrupt:
        say("interrupted while the records were saved; nothing was written")
        raise typer.Exit(130) from None


def _pages(write_pages: Callable[..., list[Path]], folder: Path) -> list[Path]:
    """The pages of a run that is on disk already, whatever becomes of them."""
    try:
        return write_pages([folder], folder / "report.html")
    except (KeyboardInterrupt, OSError):
        say(f"the records are in {folder}; `report {folder}` makes the page that is missing")
        raise


def _show(
    loaded: Scenario, result: RunResult, folder: Path, pages: Sequence[Path], *, as_json: bool, quiet: bool
) -> None:
    from sim.run_table import run_tables

    if as_json:
        print_json({**result.summary, "run_dir": str(folder)})
    elif not quiet:
        print_table(run_tables(result.summary, result.facts, loaded.resolved()))
        typer.echo("\n".join([f"records: {folder}", *(f"report:  {page}" for page in pages)]))
    if result.status == "interrupted":
        say(f"interrupted: partial results are in {folder}")
        raise typer.Exit(130)
    if result.status == "failed":
        say(f"error: the server was lost on the way; partial results are in {folder}")
        raise typer.Exit(BackendError.exit_code)
    if result.num_ok == 0:
        say(f"error: nothing was served; see the statuses in {folder / 'summary.json'}")
        raise typer.Exit(NothingServedError.exit_code)

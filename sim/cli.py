"""The command line: the composition root. It may import anything, late; nothing imports it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechanism.errors import AuctionsError

if TYPE_CHECKING:
    from sim.scenario import Scenario
    from sim.simulate import RunResult

__all__ = ["main"]

app = typer.Typer(
    name="inference-auctions",
    help="Simulate an LLM server whose waiting queue is auctioned.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="A YAML file, or the name of a shipped one.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key; repeatable.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Override the seed.")]
TrialsOption = Annotated[int | None, typer.Option("--trials", help="Override the number of trials.")]
BackendOption = Annotated[
    str | None, typer.Option("--backend", metavar="NAME", help="Replace the whole backend block by this backend.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where run folders go.")]


@app.command()
def simulate(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    seed: SeedOption = None,
    trials: TrialsOption = None,
    backend: BackendOption = None,
    url: Annotated[str | None, typer.Option("--url", help="Address of a live server (backend.url).")] = None,
    out: OutOption = Path("runs"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write records only, no page.")] = False,
    export_trace: Annotated[
        Path | None, typer.Option("--export-trace", metavar="FILE", help="Also write the requests of trial 0.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run every schedule of a scenario on the same requests, compare them, and write a report."""
    from sim.save_run import save_run
    from sim.simulate import run

    started = datetime.now(UTC)
    extra = [f"backend.url={url}"] if url else []
    loaded = _load(scenario, [*(overrides or []), *extra], backend=backend, seed=seed, trials=trials)
    config = loaded.backend.config
    if export_trace is not None:
        _export(loaded, export_trace)
    with _progress(loaded, show=not quiet) as progress:
        result = run(loaded, config, progress=progress)
    for warning in result.warnings:
        _say(f"warning: {warning}")
    if not result.statuses:
        _say("interrupted before anything was measured; nothing was written")
        raise typer.Exit(130)
    folder = save_run(loaded, result, profile=config.card(), started=started, parent=out)
    page = None if no_report else _write_page([folder], folder / "report.html")
    _show(result, folder, page, as_json=as_json, quiet=quiet)


@app.command()
def auction(
    batch: Annotated[Path, typer.Argument(metavar="BATCH.jsonl", help="One request a line.")],
    schedule: Annotated[str, typer.Option("--schedule", help="Who goes first.")] = "dfs-bid",
    payment: Annotated[
        str | None, typer.Option("--payment", help="Who pays what; default: the schedule's own.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", help="o200k, or a path to tokenizer.json; default: UTF-8 bytes.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Clear one auction over a file of requests: order and payments."""
    from sim.batch_file import read_batch
    from sim.clearing_report import auction_table, clear_batch

    result = clear_batch(read_batch(batch, tokenizer=tokenizer), schedule, payment)
    _print(result) if as_json else _table(auction_table(result))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one page from the records of one or more runs."""
    typer.echo(_write_page(runs, out))


@app.command()
def check(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    backend: BackendOption = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a scenario without running it; prints it fully resolved."""
    resolved = _load(scenario, overrides or [], backend=backend).resolved()
    if as_json:
        _print(resolved)
    else:
        typer.echo(f"{scenario}: ok")


@app.command()
def describe(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace, or a scenario.")],
    kind: Annotated[str | None, typer.Option("--kind", help="The trace's format; it is not guessed.")] = None,
    overrides: SetOption = None,
    kv_tokens: Annotated[
        int, typer.Option("--kv-tokens", min=1, help="A KV capacity to compare prompts with.")
    ] = 23000,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also write a page.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look at a trace: span, rate over time, lengths, prefix sharing, and what to beware of."""
    from sim.describe_trace import describe_trace
    from sim.progress_bar import reading_bar

    with reading_bar(show=not quiet):
        found = describe_trace(trace, kind, overrides or [], kv_tokens, _backend_types())
    if out is not None:
        from reports.trace_page import write_trace_page

        _say(f"page: {write_trace_page(found, out)}")
    if as_json:
        _print(found.to_json())
    elif not quiet:
        from sim.describe_table import describe_table

        _table(describe_table(found))


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from sim.scenario_schema import json_schema

    _print(json_schema(_backend_types()))


@app.command(name="list")
def list_plugins(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Which kind of plugin; default: all.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List what a scenario can name: workloads, schedules, payments, bidding, backends, profiles."""
    from backends._profile import profile_names
    from sim.catalogue import catalogue

    result = catalogue(kind, extra={"backend": sorted(_backend_types()), "profile": list(profile_names())})
    if as_json:
        _print(result)
        return
    for group, entries in result.items():
        typer.echo(f"{group}: {', '.join(entries)}")


def main() -> None:
    """Run the command line; every error that has a message ends in its exit code, without a traceback."""
    import click

    _guard_against_foreign_rooms()
    try:
        code = app(standalone_mode=False)
    except AuctionsError as error:
        _say(f"error: {error}")
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        code = 130
    except OSError as error:
        _say(f"error: {error}")
        code = 2 if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError | FileExistsError) else 1
    sys.exit(code)


def _guard_against_foreign_rooms() -> None:
    """Refuse to run with somebody else's `mechanism` on the path: the names of our rooms are not ours alone."""
    import importlib.util

    home = Path(__file__).resolve().parent.parent
    for room in ("mechanism", "backends", "reports"):
        found = importlib.util.find_spec(room)
        origin = Path(found.origin).resolve() if found and found.origin else None
        if origin is None or home not in origin.parents:
            from importlib.metadata import packages_distributions

            owners = ", ".join(packages_distributions().get(room, ["an unknown distribution"]))
            _say(
                f"error: the package {room!r} comes from {owners} ({origin}), not from {home}; use an environment "
                "of its own for inference-auctions"
            )
            sys.exit(2)


def _load(scenario: str, overrides: list[str], **changes: Any) -> Scenario:
    from sim.scenario import load_scenario

    return load_scenario(scenario, _backend_types(), overrides=overrides, **changes)


def _backend_types() -> dict[str, type[Any]]:
    from sim.plugins import available, load

    return {name: load("backends", name) for name in available("backends")}


def _export(scenario: Scenario, path: Path) -> None:
    from sim.export_trace import export_trace
    from sim.population import make_requests

    export_trace(make_requests(scenario, 0)[0], path)


def _write_page(runs: list[Path], out: Path) -> Path:
    from reports.run_page import write_run_page

    return write_run_page(runs, out)


def _show(result: RunResult, folder: Path, page: Path | None, *, as_json: bool, quiet: bool) -> None:
    from sim.run_table import run_table

    if as_json:
        _print({**result.summary, "run_dir": str(folder)})
    elif not quiet:
        _table(run_table(result.summary))
        typer.echo(f"records: {folder}" + (f"\nreport:  {page}" if page else ""))
    if result.status == "interrupted":
        _say(f"interrupted: partial results are in {folder}")
        raise typer.Exit(130)
    if result.num_ok == 0:
        _say(f"error: nothing was served; see the statuses in {folder / 'summary.json'}")
        raise typer.Exit(4)


@contextmanager
def _progress(scenario: Scenario, *, show: bool) -> Iterator[Callable[[int, int, str, int], None]]:
    """A progress bar on a terminal's stderr, nothing elsewhere."""
    if not show or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    from sim.progress_bar import reading_bars
    from sim.reading import watching

    with Progress(console=Console(stderr=True), transient=True) as bar, watching(reading_bars(bar)):
        tasks: dict[tuple[int, str], Any] = {}

        def update(left: int, total: int, label: str, trial: int) -> None:
            if (trial, label) not in tasks:
                tasks[trial, label] = bar.add_task(f"{label}, trial {trial + 1} of {scenario.trials}", total=total)
            if left % 256 == 0 or left == total:
                bar.update(tasks[trial, label], completed=left)

        yield update


def _print(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def _table(table: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _say(message: str) -> None:
    typer.echo(message, err=True)

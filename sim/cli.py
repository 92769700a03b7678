"""The command line: the composition root. It may import anything, late; nothing imports it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechanism.errors import AuctionsError
from sim.audit_command import audit_command
from sim.calibrate_command import calibrate_command
from sim.cli_options import (
    BackendOption,
    JsonOption,
    OutOption,
    PageOption,
    QuietOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    TokenizerOption,
    TrialsOption,
)
from sim.cli_output import print_json, print_table, say
from sim.compare_command import compare_command
from sim.foreign_rooms import foreign_room
from sim.reproduce_command import reproduce_command
from sim.sweep_command import sweep_command
from sim.validate_command import validate_command

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
    from sim.export_trace import export_first_trial
    from sim.progress_bar import serving_bar
    from sim.save_run import save_run
    from sim.simulate import run

    started = datetime.now(UTC)
    extra = [f"backend.url={url}"] if url else []
    loaded = _load(scenario, [*(overrides or []), *extra], backend=backend, seed=seed, trials=trials)
    config = loaded.backend.config
    if export_trace is not None:
        export_first_trial(loaded, export_trace)
    with serving_bar(loaded.trials, show=not quiet) as progress:
        result = run(loaded, config, progress=progress)
    for warning in result.warnings:
        say(f"warning: {warning}")
    if not result.statuses:
        say("interrupted before anything was measured; nothing was written")
        raise typer.Exit(130)
    folder = save_run(loaded, result, profile=config.card(), started=started, parent=out)
    pages = [] if no_report else _write_pages([folder], folder / "report.html")
    _show(result, folder, pages, as_json=as_json, quiet=quiet)


@app.command()
def auction(
    batch: Annotated[Path, typer.Argument(metavar="BATCH.jsonl", help="One request a line.")],
    schedule: Annotated[str, typer.Option("--schedule", help="Who goes first.")] = "dfs-bid",
    payment: Annotated[
        str | None, typer.Option("--payment", help="Who pays what; default: the schedule's own.")
    ] = None,
    tokenizer: TokenizerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Clear one auction over a file of requests: order and payments."""
    from sim.batch_file import read_batch
    from sim.clearing_report import auction_table, clear_batch

    result = clear_batch(read_batch(batch, tokenizer=tokenizer), schedule, payment)
    print_json(result) if as_json else print_table(auction_table(result))


@app.command()
def kappa(
    source: Annotated[Path, typer.Argument(metavar="BATCH.jsonl|RUN", help="A file of requests, or a run folder.")],
    tokenizer: TokenizerOption = None,
    out: PageOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """How much welfare uneven pacing can cost, by Theorem 4.4, how much it did, and where."""
    from sim.kappa_command import kappa_of
    from sim.progress_bar import reading_bar

    with reading_bar(show=not quiet):
        found = kappa_of(source, tokenizer, _backend_types())
    if as_json:
        print_json(found.to_json())
    if out is not None:
        from reports.kappa_page import write_kappa_page

        say(f"page: {write_kappa_page(found.report, out)}")
    if not as_json and not quiet:
        from sim.kappa_table import kappa_table

        print_table(kappa_table(found.report))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one page from the records of one or more runs."""
    typer.echo("\n".join(map(str, _write_pages(runs, out))))


@app.command()
def check(
    scenario: ScenarioArgument,
    overrides: SetOption = None,
    backend: BackendOption = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a scenario without running it; prints it fully resolved."""
    from sim.sweep_points import check_scenario

    loaded, points = check_scenario(scenario, _backend_types(), overrides or [], backend)
    said = f"{scenario}: ok" + (f", {points:,} points to sweep" if points else "")
    print_json(loaded.resolved()) if as_json else typer.echo(said)


@app.command()
def describe(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace, or a scenario.")],
    kind: Annotated[str | None, typer.Option("--kind", help="The trace's format; it is not guessed.")] = None,
    overrides: SetOption = None,
    kv_tokens: Annotated[
        int | None, typer.Option("--kv-tokens", min=1, help="A KV capacity to compare prompts with; default: its own.")
    ] = None,
    out: PageOption = None,
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

        say(f"page: {write_trace_page(found, out)}")
    if as_json:
        print_json(found.to_json())
    elif not quiet:
        from sim.describe_table import describe_table

        print_table(describe_table(found))


@app.command()
def doctor(
    url: Annotated[str, typer.Option("--url", help="Address of a running server.")],
    api_key_env: Annotated[
        str | None, typer.Option("--api-key-env", metavar="NAME", help="The environment variable with its key.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Examine a server: what it is, what it reports, whether order and priority hold, which flags are missing."""
    from backends._doctor import examine
    from backends._doctor_table import doctor_table

    found = examine(url, api_key_env, progress=lambda question: None if quiet else say(question))
    print_json(found.as_json()) if as_json else print_table(doctor_table(found))


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from sim.scenario_schema import json_schema

    print_json(json_schema(_backend_types()))


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
        print_json(result)
    else:
        typer.echo("\n".join(f"{group}: {', '.join(entries)}" for group, entries in result.items()))


def main() -> None:
    """Run the command line; every error that has a message ends in its exit code, without a traceback."""
    from typer.exceptions import TyperException

    foreign = foreign_room()
    if foreign is not None:
        say(f"error: {foreign}")
        sys.exit(2)
    try:
        code = app(standalone_mode=False)
    except AuctionsError as error:
        say(f"error: {error}")
        code = error.exit_code
    except TyperException as error:
        say(f"error: {error.format_message()} Add --help to see what a command takes.")
        code = error.exit_code
    except MemoryError as error:
        say(f"error: not enough memory ({error or 'for this'}); ask for fewer, or shorter, requests")
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        code = 130
    except OSError as error:
        say(f"error: {error}")
        code = 2 if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError | FileExistsError) else 1
    sys.exit(code)


def _load(scenario: str, overrides: list[str], **changes: Any) -> Scenario:
    from sim.scenario import load_scenario

    return load_scenario(scenario, _backend_types(), overrides=overrides, **changes)


def _backend_types() -> dict[str, type[Any]]:
    from sim.plugins import available, load

    return {name: load("backends", name) for name in available("backends")}


def _late(place: str) -> Callable[..., Any]:
    """The function at "module:name", imported when it is called."""
    module, _, name = place.partition(":")
    return lambda *arguments: getattr(importlib.import_module(module), name)(*arguments)


_write_pages = _late("reports.pages:write_pages")
app.command()(audit_command(_backend_types, _late("reports.audit_page:write_audit_page")))
for command in (calibrate_command, compare_command, reproduce_command, sweep_command, validate_command):
    app.command()(command(_backend_types, _late))


def _show(result: RunResult, folder: Path, pages: list[Path], *, as_json: bool, quiet: bool) -> None:
    from sim.errors import BackendError
    from sim.run_table import run_tables

    if as_json:
        print_json({**result.summary, "run_dir": str(folder)})
    elif not quiet:
        print_table(run_tables(result.summary, result.facts))
        typer.echo("\n".join([f"records: {folder}", *(f"report:  {page}" for page in pages)]))
    if result.status == "interrupted":
        say(f"interrupted: partial results are in {folder}")
        raise typer.Exit(130)
    if result.status == "failed":
        say(f"error: the server was lost on the way; partial results are in {folder}")
        raise typer.Exit(BackendError.exit_code)
    if result.num_ok == 0:
        say(f"error: nothing was served; see the statuses in {folder / 'summary.json'}")
        raise typer.Exit(4)

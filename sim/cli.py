"""The command line: the composition root. It may import anything, late; nothing imports it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.audit_command import audit_command
from sim.calibrate_command import calibrate_command
from sim.cli_errors import ENDINGS, ended_by
from sim.cli_options import (
    BackendOption,
    JsonOption,
    PageOption,
    QuietOption,
    ScenarioArgument,
    SetOption,
    TokenizerOption,
)
from sim.cli_output import print_json, print_table, say
from sim.compare_command import compare_command
from sim.foreign_rooms import foreign_room
from sim.kappa_command import kappa_command
from sim.reproduce_command import reproduce_command
from sim.simulate_command import simulate_command
from sim.sweep_command import sweep_command
from sim.validate_command import validate_command

if TYPE_CHECKING:
    from sim.scenario import Scenario

__all__ = ["main"]

app = typer.Typer(
    name="inference-auctions",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"inference-auctions {version('inference-auctions')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Simulate an LLM server whose waiting queue is auctioned."""


def _backend_types() -> dict[str, type[Any]]:
    from sim.plugins import available, load

    return {name: load("backends", name) for name in available("backends")}


def _late(place: str) -> Callable[..., Any]:
    """The function at "module:name", imported when it is called."""
    module, _, name = place.partition(":")
    return lambda *arguments: getattr(importlib.import_module(module), name)(*arguments)


app.command()(simulate_command(_backend_types, _late))


@app.command()
def auction(
    batch: Annotated[Path, typer.Argument(metavar="BATCH.jsonl", help="One request a line.")],
    schedule: Annotated[str, typer.Option("--schedule", help="Who goes first.")] = "dfs-bid",
    payment: Annotated[
        str | None, typer.Option("--payment", help="Who pays what; default: the schedule's own.")
    ] = None,
    tokenizer: TokenizerOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Clear one auction over a file of requests: order and payments."""
    from sim.batch_file import read_batch
    from sim.clearing_report import auction_table, clear_batch
    from sim.progress_bar import reading_bar

    with reading_bar(show=not quiet):
        result = clear_batch(read_batch(batch, tokenizer=tokenizer), schedule, payment)
    if as_json:
        print_json(result)
    elif not quiet:
        print_table(auction_table(result))


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one page from the records of one or more runs."""
    from sim.run_folder import check_page

    check_page(out)
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
    from sim.run_folder import check_page

    check_page(out)
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
    kind: Annotated[
        str | None, typer.Argument(metavar="[BLOCK]", help="A block, such as workload: with its names' keys, too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what a scenario can name; of one block also what its names are, with their keys and defaults."""
    from backends._profile import profile_names
    from sim.catalogue import catalogue, parameters, parameters_text

    if kind is not None and kind != "profile":
        found = parameters(kind, _backend_types())
        print_json({kind: found}) if as_json else typer.echo(parameters_text(found))
        return
    names = catalogue(_backend_types(), profile_names())
    names = names if kind is None else {kind: names[kind]}
    if as_json:
        print_json(names)
        return
    for group, entries in names.items():
        typer.echo(f"{group}: {', '.join(entries)}")


def main() -> None:
    """Run the command line; every error that has a message ends in its exit code, without a traceback."""
    foreign = foreign_room()
    if foreign is not None:
        say(f"error: {foreign}")
        sys.exit(2)
    try:
        # typer's own way to run a command says nothing at Ctrl-C, and knows no exit code for a reader that left
        command = typer.main.get_command(app)
        with command.make_context("inference-auctions", sys.argv[1:] or ["--help"]) as context:
            command.invoke(context)
        sys.stdout.flush()
        code = 0
    except typer.Exit as ending:
        code = ending.exit_code
    except ENDINGS as error:
        code = ended_by(error)
    sys.exit(code)


def _load(scenario: str, overrides: list[str], **changes: Any) -> Scenario:
    from sim.scenario import load_scenario

    return load_scenario(scenario, _backend_types(), overrides=overrides, **changes)


_write_pages = _late("reports.pages:write_pages")
app.command()(audit_command(_backend_types, _late("reports.audit_page:write_audit_page")))
for command in (
    calibrate_command,
    compare_command,
    kappa_command,
    reproduce_command,
    sweep_command,
    validate_command,
):
    app.command()(command(_backend_types, _late))

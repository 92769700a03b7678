"""The `audit` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli_options import JsonOption, PageOption, QuietOption, SetOption, TokenizerOption
from sim.cli_output import print_json, print_table, say
from sim.errors import ScenarioError

if TYPE_CHECKING:
    from sim.audit_report import AuditReport

__all__ = ["audit_command"]

Source = Annotated[str, typer.Argument(metavar="BATCH.jsonl|SCENARIO", help="A file of requests, or a scenario.")]
Schedule = Annotated[str | None, typer.Option("--schedule", help="Batch file: who goes first; default: dfs-bid.")]
Payment = Annotated[
    str | None, typer.Option("--payment", help="Batch file: who pays what; default: the schedule's own.")
]
Users = Annotated[int, typer.Option("--users", min=1, help="Users, or pairs, tried for each kind of lie.")]
Auctions = Annotated[
    int | None, typer.Option("--auctions", min=1, help="Scenario: batches that are tried; default: 2.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Decides who is tried.")]


def audit_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], write_page: Callable[[AuditReport, Path], Path]
) -> Callable[..., None]:
    """The command as a function for typer."""

    def audit(
        source: Source,
        schedule: Schedule = None,
        payment: Payment = None,
        overrides: SetOption = None,
        users: Users = 12,
        auctions: Auctions = None,
        seed: Seed = 0,
        tokenizer: TokenizerOption = None,
        out: PageOption = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Does lying pay? Misreports, false names, coalitions and padded prompts, against any mechanism."""
        from sim.audit import audit_batch_file, audit_scenario
        from sim.audit_report import check_claims
        from sim.audit_source import AuditSettings
        from sim.progress_bar import counting_bar
        from sim.run_folder import check_page

        check_page(out)
        settings = AuditSettings(users=users, auctions=2 if auctions is None else auctions, seed=seed)
        with counting_bar("auditing", show=not quiet) as progress:
            if source.endswith((".jsonl", ".jsonl.gz")):
                _refuse_for_file(source, {"--set": overrides, "--auctions": auctions})
                found = audit_batch_file(Path(source), schedule or "dfs-bid", payment, tokenizer, settings, progress)
            else:
                _refuse_for_scenario(source, {"schedule": schedule, "payment": payment, "tokenizer": tokenizer})
                with _hint_at_batches(source):
                    found = audit_scenario(source, overrides or [], backend_types(), settings, progress)
        if as_json:
            print_json(found.to_json())
        if out is not None:
            say(f"page: {write_page(found, out)}")
        if not as_json and not quiet:
            from sim.audit_table import audit_table

            print_table(audit_table(found))
        check_claims(found.mechanisms)
        if not found.complete:
            say("interrupted: what was found until then is given, marked partial")
            raise typer.Exit(130)

    return audit


def _refuse_for_file(source: str, options: Mapping[str, object]) -> None:
    """Options that mean nothing for a batch file."""
    for option, given in options.items():
        if given:
            what = "one batch" if option == "--auctions" else "no scenario's keys"
            raise ScenarioError(option, f"it with {source}, which holds {what}", "it with a scenario")


def _refuse_for_scenario(source: str, options: Mapping[str, str | None]) -> None:
    """Options that mean nothing for a scenario, and what says the same there."""
    for key, given in options.items():
        if given:
            instead = f"--set {'workload.tokenizer' if key == 'tokenizer' else key}={given}"
            raise ScenarioError(f"--{key}", f"it with the scenario {source}", instead)


@contextmanager
def _hint_at_batches(source: str) -> Iterator[None]:
    """A file that is no scenario may be meant as a batch, and is told apart by its name."""
    try:
        yield
    except ScenarioError as error:
        if not Path(source).is_file() or Path(source).suffix in {".yaml", ".yml", ".json"}:
            raise
        hint = f"{error.suggestion} A file of requests is known by its name, which ends in .jsonl.".strip()
        raise ScenarioError(error.where, error.found, error.expected, hint) from error

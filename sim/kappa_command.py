"""The `kappa` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli_options import JsonOption, PageOption, QuietOption, TokenizerOption
from sim.cli_output import print_json, print_table, say

__all__ = ["kappa_command"]

Source = Annotated[Path, typer.Argument(metavar="BATCH.jsonl|RUN", help="A file of requests, or a run folder.")]
Schedule = Annotated[
    str | None, typer.Option("--schedule", metavar="LABEL", help="Run: only this one; default: all, worst first.")
]


def kappa_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer."""
    write_page = late("reports.kappa_page:write_kappa_page")

    def kappa(
        source: Source,
        schedule: Schedule = None,
        tokenizer: TokenizerOption = None,
        out: PageOption = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """How much welfare uneven pacing can cost, by Theorem 4.4, how much it did, and where."""
        from sim.kappa_found import kappa_of
        from sim.progress_bar import reading_bar
        from sim.run_folder import check_page

        check_page(out)
        try:
            with reading_bar(show=not quiet):
                found = kappa_of(source, tokenizer, backend_types(), schedule)
            if as_json:
                print_json(found.to_json())
            if out is not None:
                say(f"page: {write_page(found.report, out)}")
            if not as_json and not quiet:
                from sim.kappa_table import kappa_table

                print_table(kappa_table(found.report))
        except KeyboardInterrupt:
            say("interrupted: the bounds were not finished, and no page was written")
            raise typer.Exit(130) from None

    return kappa

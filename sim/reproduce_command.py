"""The `reproduce` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli_options import JsonOption, QuietOption
from sim.cli_output import print_json, print_table, say

__all__ = ["reproduce_command"]


class Target(StrEnum):
    """What can be reproduced."""

    fig1 = "fig1"
    fig2 = "fig2"
    fig3 = "fig3"
    fig4 = "fig4"
    runtime = "runtime"
    all = "all"


What = Annotated[Target, typer.Argument(help="A figure of the paper, the auction's run time, or all of them.")]
Trials = Annotated[int, typer.Option("--trials", min=1, help="Seeds of every point; the paper has three.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of every random stream.")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Cells at a time; default: one for each processor.")]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Real text from DIR (squad/, gsm8k/, sweagent/, …).")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Records and pages; default: runs/reproduce, or runs/reproduce-real."),
]


def reproduce_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; `late` gives functions of the rooms above by "module:name"."""
    write_pages = late("reports.reproduce_page:write_reproduce_pages")

    def reproduce(
        what: What = Target.all,
        trials: Trials = 10,
        seed: Seed = 0,
        jobs: Jobs = None,
        data: Data = None,
        out: Out = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """The paper's experiments: its figures, our numbers beside its numbers, and which claims agree."""
        from sim.progress_bar import counting_bar
        from sim.reproduce.experiments import FIGURES
        from sim.reproduce.reproduction import Plan, run_cells, time_auctions, write_records
        from sim.reproduce.text_source import SYNTHETIC, real_text
        from sim.run_folder import check_folder
        from sim.sweep_progress import cells_bar

        folder = out or Path("runs") / ("reproduce" if data is None else "reproduce-real")
        check_folder(folder)
        plan = Plan(
            figures=tuple(FIGURES) if what is Target.all else (what.value,),
            out=folder,
            text=SYNTHETIC if data is None else real_text(data),
            seed=seed,
            trials=trials,
            jobs=jobs,
        )
        types = backend_types()
        try:
            with cells_bar("cells", show=not quiet) as progress:
                summaries = run_cells(plan, types, progress)
            with counting_bar("timing", show=not quiet) as bar:
                times = time_auctions(plan, types, lambda done, total: bar("auctions", done, total))
        except KeyboardInterrupt:
            say(f"interrupted: what is finished is in {folder / 'cells'}; the same command goes on")
            raise typer.Exit(130) from None
        records = write_records(plan, summaries, times)
        pages = write_pages(folder, list(records.values()))
        if as_json:
            claims = [claim for record in records.values() for claim in record["claims"]]
            print_json({"out": str(folder), "pages": [str(page) for page in pages], "claims": claims})
        elif not quiet:
            from sim.reproduce.claims_table import claims_table

            print_table(claims_table(list(records.values())))
            typer.echo("\n".join(f"page: {page}" for page in pages))

    return reproduce

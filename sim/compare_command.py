"""The `compare` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli_options import JsonOption, QuietOption
from sim.cli_output import print_json, print_table, say

__all__ = ["compare_command"]

Folders = Annotated[list[Path], typer.Argument(metavar="RUN_OR_SWEEP…", help="Run folders and sweep folders.")]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="LABEL",
        help="The schedule that differences are taken to (default: the first); or KEY=VALUE: compare values of KEY.",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")]
Png = Annotated[
    Path | None, typer.Option("--png", metavar="DIR", help="Also write every figure as PNG (the png extra).")
]


def compare_command(
    _backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; `late` gives functions of the rooms above by "module:name"."""
    write_page = late("reports.compare_page:write_compare_page")
    png_writer, write_pngs = late("reports.png:png_writer"), late("reports.compare_page:write_compare_pngs")

    def compare(
        folders: Folders,
        baseline: Baseline = None,
        out: Out = Path("compare.html"),
        png: Png = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Compare runs and sweeps from their records: who wins, at what price, and where it flips."""
        from sim.compare import compare as compare_folders
        from sim.run_folder import check_folder, check_page

        check_page(out)
        if png is not None:
            check_folder(png, "--png")
        writer = None if png is None else png_writer()
        found = compare_folders(folders, baseline)
        page = write_page(found, out)
        pictures = [] if png is None else write_pngs(found, png, writer)
        if as_json:
            from sim.compare_json import comparison_json

            print_json(comparison_json(found))
            return
        if not quiet:
            from sim.compare_table import comparison_table

            print_table(comparison_table(found))
        say(f"page: {page}")
        if pictures:
            say(f"png:  {png} ({len(pictures)} figures)")

    return compare

"""Options that several commands share, so that a flag means one thing everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BackendOption",
    "JsonOption",
    "OutOption",
    "PageOption",
    "QuietOption",
    "ScenarioArgument",
    "SeedOption",
    "SetOption",
    "TokenizerOption",
    "TrialsOption",
]

ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="A YAML file, or the name of a shipped one.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key; repeatable.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Override the seed.")]
TrialsOption = Annotated[int | None, typer.Option("--trials", help="Override the number of trials.")]
BackendOption = Annotated[
    str | None, typer.Option("--backend", metavar="NAME", help="Replace the whole backend block by this backend.")
]
TokenizerOption = Annotated[
    str | None, typer.Option("--tokenizer", help="o200k, or a path to tokenizer.json; default: UTF-8 bytes.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where run folders go.")]
PageOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also write a page.")]

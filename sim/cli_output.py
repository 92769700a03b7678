"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

__all__ = ["print_json", "print_table", "say"]


def print_json(data: Any) -> None:
    """A result, as strict JSON on stdout."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(table: Any) -> None:
    """A result, as whatever rich can draw, on stdout; as wide as the terminal."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(table)


def say(message: str) -> None:
    """A word to the person at the keyboard, on stderr."""
    typer.echo(message, err=True)

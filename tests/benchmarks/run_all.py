"""`make bench`: every figure beside its bar, in one run on one machine."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Run each bench_*.py and print its rows as they come; a missed bar is printed as missed."""
    sys.path.insert(0, str(FOLDER))
    table = Table("what", "measured", "bar", "met", title="Numbers to hold")
    console = Console(width=130)
    for path in sorted(FOLDER.glob("bench_*.py")):
        console.print(f"running {path.name} …", style="dim")
        for row in importlib.import_module(path.stem).rows():
            table.add_row(row.what, row.measured, row.bar, "yes" if row.met else "MISSED")
    console.print(table)


if __name__ == "__main__":
    main()

"""`make bench`: every figure beside its bar, in one run on one machine."""

from __future__ import annotations

import importlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _bench import BenchRow
from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).resolve().parent


def measure(name: str) -> list[BenchRow]:
    """The rows of one bench_*.py."""
    rows: list[BenchRow] = importlib.import_module(name).rows()
    return rows


def main() -> None:
    """Run each bench_*.py in a process of its own and print its rows; a missed bar is printed as missed.

    A process of its own, because a child's peak memory begins at its parent's.
    """
    table = Table("what", "measured", "bar", "met", title="Numbers to hold")
    console = Console(width=130)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn, max_tasks_per_child=1) as pool:
        for path in sorted(FOLDER.glob("bench_*.py")):
            console.print(f"running {path.name} …", style="dim")
            for row in pool.submit(measure, path.stem).result():
                table.add_row(row.what, row.measured, row.bar, "yes" if row.met else "MISSED")
    console.print(table)


if __name__ == "__main__":
    main()

"""How far a sweep has come, as a bar on a terminal's stderr that says when it will be done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sim.sweep import Progress

__all__ = ["cells_bar"]

#: The time left is told from the speed of this many last seconds.
SPEED_S = 600.0


@contextmanager
def cells_bar(what: str, *, show: bool) -> Iterator[Progress]:
    """Show how many of all cells are there, how many failed, and the time left. Yields a `sim.sweep.Progress`."""
    if not show or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left:"), TimeRemainingColumn())
    with Bar(*columns, *left, console=Console(stderr=True), transient=True, speed_estimate_period=SPEED_S) as bar:
        task: Any = None

        def update(done: int, failed: int, total: int) -> None:
            nonlocal task
            said = f"{what}, {failed} failed" if failed else what
            if task is None:  # what was there before is no measure of speed
                task = bar.add_task(said, total=total, completed=done)
            bar.update(task, description=said, completed=done + failed)

        yield update

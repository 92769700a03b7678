"""What a sweep prints: a line for every point and schedule, mean ± one standard error over trials."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.compare_keys import short
from sim.run_table import COLUMNS, moments_text
from sim.sweep_cell import plain_json

__all__ = ["MOST_ROWS", "sweep_table"]

#: Lines of the table; the rest is in results.parquet.
MOST_ROWS = 40


def sweep_table(
    settings: Sequence[dict[str, Any]], cells: Sequence[dict[str, Any] | None], failed: Collection[int] = ()
) -> Group:
    """A rich table of the first points, what its errors are, and how many points it leaves out.

    Parameters
    ----------
    failed : the points whose cell failed; others without a cell were not run.
    """
    axes = [key for key in settings[0] if key != "schedule"]
    table = Table(header_style="bold")
    for key in axes:
        table.add_column(key, justify="right", overflow="fold")
    table.add_column("schedule")
    for _, title, _, _ in COLUMNS:
        table.add_column(title, justify="right")
    rows, shown = 0, 0
    for place, (point, cell) in enumerate(islice(zip(settings, cells, strict=True), MOST_ROWS)):
        said = [short(plain_json(point[key])) for key in axes]
        if cell is None:
            of = f"{short(plain_json(point['schedule']))}: " if "schedule" in point else ""
            table.add_row(*said, of + ("failed" if place in failed else "not run"))
            rows, shown = rows + 1, shown + 1
            continue
        schedules = cell["summary"]["schedules"]
        if rows and rows + len(schedules) > MOST_ROWS:
            break
        for label, metrics in schedules.items():
            table.add_row(*said, label, *(moments_text(metrics.get(k), text, by) for k, _, text, by in COLUMNS))
        rows, shown = rows + len(schedules), shown + 1
    more = len(cells) - shown
    lines = ["Mean ± one standard error over trials.", *([f"… and {more:,} more points"] if more else [])]
    return Group(table, *map(Text, lines))

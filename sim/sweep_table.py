"""What a sweep prints: a line for every point and schedule, mean ± standard error over trials."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.run_table import COLUMNS, moments_text
from sim.sweep_points import setting_text

__all__ = ["MOST_ROWS", "sweep_table"]

#: Lines of the table; the rest is in results.parquet.
MOST_ROWS = 40


def sweep_table(settings: Sequence[dict[str, Any]], cells: Sequence[dict[str, Any] | None]) -> Group:
    """A rich table of the first cells that are there, and how many points it leaves out."""
    axes = [key for key in settings[0] if key != "schedule"]
    table = Table(header_style="bold")
    for key in axes:
        table.add_column(key, justify="right", overflow="fold")
    table.add_column("schedule")
    for _, title, _, _ in COLUMNS:
        table.add_column(title, justify="right")
    rows, shown = 0, 0
    for point, cell in islice(zip(settings, cells, strict=True), MOST_ROWS):
        if cell is None:
            table.add_row(*(setting_text(point[key]) for key in axes), "not there")
            rows, shown = rows + 1, shown + 1
            continue
        schedules = cell["summary"]["schedules"]
        if rows and rows + len(schedules) > MOST_ROWS:
            break
        for label, metrics in schedules.items():
            said = [setting_text(point[key]) for key in axes]
            table.add_row(*said, label, *(moments_text(metrics.get(k), text, by) for k, _, text, by in COLUMNS))
        rows, shown = rows + len(schedules), shown + 1
    more = len(settings) - shown
    return Group(table, *([Text(f"… and {more:,} more points")] if more else []))

"""What `compare` prints: one line a contender, averaged over the settings all of them have."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.compare import Comparison
from sim.compare_stats import Interval
from sim.compare_words import cautions, reading

__all__ = ["comparison_table"]

_COLUMNS = (
    ("welfare_pct_over_random", "welfare, % over random", "{:+.1f}", 1.0),
    ("hit_rate", "hit rate, %", "{:.1f}", 100.0),
    ("mean_ttft_ms", "mean TTFT, ms", "{:,.0f}", 1.0),
    ("p90_ttft_ms", "p90 TTFT, ms", "{:,.0f}", 1.0),
    ("revenue", "revenue", "{:,.1f}", 1.0),
)


def comparison_table(comparison: Comparison) -> Group:
    """The verdict, and means with 95 % t intervals as ±; a figure that was not measured is a dash."""
    settings = comparison.complete
    table = Table(header_style="bold")
    table.add_column(comparison.by)
    for _, title, _, _ in _COLUMNS:
        table.add_column(title, justify="right")
    for name in comparison.contenders:
        cells = [_cell(comparison.average(settings, name, key), text, scale) for key, _, text, scale in _COLUMNS]
        table.add_row(f"{name} (baseline)" if name == comparison.baseline else name, *cells)
    over = f"Means over {len(settings):,} of {len(comparison.settings):,} settings, ± 95 % t intervals over trials."
    sentences = [*reading(comparison), *cautions(comparison)]
    return Group(*(Text(f"{each}\n") for each in sentences), table, Text(over))


def _cell(found: Interval, text: str, scale: float) -> str:
    if found.mean is None:
        return "–"
    mean = text.format(found.mean * scale).replace("-", "\N{MINUS SIGN}")
    if found.high is None:
        return mean
    return f"{mean} ± {text.format((found.high - found.mean) * scale).lstrip('+')}"

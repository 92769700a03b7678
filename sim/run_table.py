"""The comparison a run prints: one line a schedule, mean ± standard error over trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.pacing_table import pacing_table
from sim.papers_figures import gap_sentence, prompts_sentence

__all__ = ["COLUMNS", "moments_text", "run_table", "run_tables"]

#: What a run and a sweep print: metric, title, format, and by how much it is multiplied.
COLUMNS = (
    ("welfare_pct_over_random", "welfare, % over random", "{:+.1f}", 1.0),
    ("hit_rate", "hit rate, %", "{:.1f}", 100.0),
    ("mean_ttft_ms", "mean TTFT, ms", "{:,.0f}", 1.0),
    ("p99_ttft_ms", "p99 TTFT, ms", "{:,.0f}", 1.0),
    ("revenue", "revenue", "{:,.1f}", 1.0),
)


def run_table(summary: Mapping[str, Any]) -> Table:
    """A rich table of summary.json; a figure that was not measured is a dash."""
    table = Table(title_justify="left", header_style="bold")
    table.add_column("schedule")
    for _, title, _, _ in COLUMNS:
        table.add_column(title, justify="right")
    table.add_column("served", justify="right")
    for label, metrics in summary["schedules"].items():
        statuses = metrics["statuses"]
        served = f"{statuses.get('ok', 0):,} of {sum(statuses.values()):,}"
        table.add_row(label, *(moments_text(metrics.get(key), text, scale) for key, _, text, scale in COLUMNS), served)
    return table


def run_tables(summary: Mapping[str, Any], facts: Mapping[str, float], scenario: Mapping[str, Any]) -> Group:
    """The comparison, the paper's figures beside ours, and what budgets did where there were any."""
    gap, pacing = summary.get("gap_to_bid_sort"), summary.get("pacing")
    first = next(iter(summary["schedules"].values()))
    num_requests = sum(first["statuses"].values()) // max(1, len(first["trials"]))
    said = [gap_sentence(gap, scenario, num_requests) if gap else None, prompts_sentence(facts)]
    lines = [Text(sentence) for sentence in said if sentence]
    return Group(run_table(summary), *lines, *([pacing_table(pacing)] if pacing else []))


def moments_text(moments: Mapping[str, Any] | None, text: str, scale: float) -> str:
    """Mean ± standard error; a dash where nothing was measured."""
    if not moments or moments["mean"] is None:
        return "–"
    mean = text.format(moments["mean"] * scale).replace("-", "−")
    return mean if moments["se"] is None else f"{mean} ± {text.format(moments['se'] * scale).lstrip('+')}"

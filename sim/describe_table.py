"""A description of a trace as tables in a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.arrival_rate import ArrivalRate
from sim.describe import Description, Lengths

__all__ = ["describe_table"]

_BARS = " ▁▂▃▄▅▆▇█"
_WIDTH = 60


def describe_table(found: Description) -> Group:
    """What `describe` prints: the trace at a glance, its lengths, and what to beware of."""
    parts: list[Table | Text] = [_overview(found), _lengths(found)]
    parts += [Text(f"warning: {warning}") for warning in found.warnings]
    return Group(*parts)


def _overview(found: Description) -> Table:
    table = Table(title=Text(f"{found.source} ({found.kind})"), title_justify="left", show_header=False)
    table.add_column()
    table.add_column()
    table.add_row("requests", f"{found.num_requests:,}")
    for reason, number in found.dropped.items():
        table.add_row(f"left out: {reason}", f"{number:,}")
    if found.num_sessions is not None and found.turns is not None:
        table.add_row(
            "sessions", f"{found.num_sessions:,}, of {found.turns.mean:.1f} requests (longest {found.turns.max:,.0f})"
        )
    for label, text in _over_time(found.arrivals):
        table.add_row(label, text)
    table.add_row("prefix hit rate, unbounded cache of prompts only", f"{found.prefix_hit_rate:.1%} of prompt tokens")
    if found.recorded_hit_rate is not None:
        table.add_row("hit rate, as recorded", f"{found.recorded_hit_rate:.1%} of prompt tokens")
    above = f"{found.share_above_kv:.1%} of prompts ({found.num_above_kv:,})"
    table.add_row(f"longer than {found.kv_tokens:,} tokens", above)
    for name, value in found.facts.items():
        table.add_row(name.replace("_", " "), f"{value:,.4g}")
    return table


def _over_time(arrivals: ArrivalRate | None) -> list[tuple[str, str]]:
    if arrivals is None:
        return [("clock", "none recorded")]
    rate = "all at once" if arrivals.request_rate is None else f"{arrivals.request_rate:.4g} requests/s"
    return [
        ("span", f"{arrivals.span_s:,.1f} s"),
        ("rate", f"{rate} (the median request meets {arrivals.busy_rate:.4g})"),
        ("rate over time", sparkline(arrivals.requests)),
    ]


def sparkline(counts: tuple[int, ...], width: int = _WIDTH) -> str:
    """Counts as bars, neighbours summed where there are more than `width`; the highest is full.

    >>> sparkline((0, 4, 8))
    ' ▄█'
    """
    step = -(-len(counts) // width)
    sums = [sum(counts[start : start + step]) for start in range(0, len(counts), step)]
    most = max(sums)
    return "".join(_BARS[-(-each * (len(_BARS) - 1) // most)] for each in sums)


def _lengths(found: Description) -> Table:
    table = Table(header_style="bold")
    table.add_column("tokens per request")
    for title in ("mean", "p50", "p90", "p95", "p99", "max", "total"):
        table.add_column(title, justify="right")
    for label, lengths in (("prompt", found.prompt_tokens), ("output", found.output_tokens)):
        table.add_row(label, *_cells(lengths))
    return table


def _cells(lengths: Lengths) -> list[str]:
    values = (lengths.mean, lengths.p50, lengths.p90, lengths.p95, lengths.p99, lengths.max, lengths.total)
    return [f"{value:,.0f}" for value in values]

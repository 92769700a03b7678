"""A validation as the terminal shows it: for every schedule and measure the error, the server's own, the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from sim.validation import Validation, Verdict

__all__ = ["MEASURES", "clock_note", "shares_text", "validation_table"]

#: Measure → its name and unit.
MEASURES = {
    "ttft_mean_pct": ("mean TTFT", "%"),
    "ttft_p90_pct": ("P90 TTFT", "%"),
    "hit_rate_pp": ("hit rate", "pp"),
    "order_tau": ("order, Kendall's τ", ""),
    "welfare_pct": ("welfare", "%"),
    "throughput_pct": ("throughput", "%"),
}


def validation_table(found: Validation) -> Table:
    """One line a schedule and measure; then how many requests had the same cached tokens."""
    title = f"{'PASS' if found.passed else 'FAIL'} · {found.scenario} · {found.runs} live runs"
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in ("schedule", "measure", "error", "server against itself", "claimed", "threshold", ""):
        table.add_column(name, justify="left" if name in {"schedule", "measure", ""} else "right")
    for each in found.schedules:
        for place, verdict in enumerate(each.verdicts):
            table.add_row(each.schedule if place == 0 else "", *_cells(verdict))
        same = (shares_text(each.equal_pct), shares_text(each.own_equal_pct))
        table.add_row("", "same cached tokens", *same, "", "", "", end_section=True)
    if found.in_flight not in {None, 1}:
        table.caption, table.caption_justify = clock_note(found.in_flight), "left"
    return table


def clock_note(in_flight: int | None) -> str:
    """What a reader must know of runs with several requests in flight."""
    return (
        f"With {in_flight} requests in flight the server's clock decides which of them meet in a pass: "
        "nothing better than its own spread is claimed."
    )


def shares_text(percent: Sequence[float]) -> str:
    """The mean, and the range where there is one.

    >>> shares_text([90.0, 94.0]), shares_text([100.0, 100.0]), shares_text([])
    ('92.0 % (90.0–94.0)', '100.0 %', '–')
    """
    if not percent:
        return "–"
    low, high = min(percent), max(percent)
    mean = f"{sum(percent) / len(percent):.1f} %"
    return mean if low == high else f"{mean} ({low:.1f}–{high:.1f})"


def _cells(verdict: Verdict) -> tuple[str, ...]:
    name, unit = MEASURES[verdict.measure]

    def text(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:.4f}" if verdict.measure == "order_tau" else f"{value:.2f} {unit}"

    judged = "pass" if verdict.passed else "FAIL, the server wanders" if verdict.server_wanders else "FAIL"
    said = "not judged" if verdict.threshold is None else judged
    return name, text(verdict.error), text(verdict.spread), text(verdict.claimed), text(verdict.threshold), said

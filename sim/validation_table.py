"""A validation as the terminal shows it: for every schedule and measure the error, the server's own, the verdict."""

from __future__ import annotations

from rich.table import Table

from sim.validation import Validation, Verdict

__all__ = ["MEASURES", "validation_table"]

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
        known, equal = each.ours.num_cached_known, each.ours.num_cached_equal
        same = f"{equal:,} of {known:,}"
        table.add_row("", "same cached tokens", same, _own_equal(each.own), "", "", "", end_section=True)
    return table


def _cells(verdict: Verdict) -> tuple[str, ...]:
    name, unit = MEASURES[verdict.measure]

    def text(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:.4f}" if verdict.measure == "order_tau" else f"{value:.2f} {unit}"

    judged = "pass" if verdict.passed else "FAIL"
    said = "not judged" if verdict.threshold is None else judged
    return name, text(verdict.error), text(verdict.spread), text(verdict.claimed), text(verdict.threshold), said


def _own_equal(own: object) -> str:
    known, equal = getattr(own, "num_cached_known", None), getattr(own, "num_cached_equal", None)
    return "–" if known is None else f"{equal:,} of {known:,}"

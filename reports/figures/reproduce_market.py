"""Figure 4, welfare under budgets auction by auction, and the run time of the auction itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.series import DASHES, SYMBOLS
from sim.compare_stats import interval_of
from sim.reproduce.claims_market import SPREAD_BUDGETS

__all__ = ["budget_levels", "run_time_charts", "welfare_over_auctions"]

Json = Mapping[str, Any]

_TIMES = (
    ("naive_s", "payments by definition"),
    ("tree_s", "tree"),
    ("payments_s", "payments"),
    ("schedule_s", "schedule"),
)


def welfare_over_auctions(points: Sequence[Json], setting: str) -> tuple[Chart, ...]:
    """Welfare against truthful bids and the κ bound, batch by batch and over all batches so far, for every shape."""
    charts = []
    for point in points:
        found = point["cells"][setting]["pacing"][SPREAD_BUDGETS]["auctions"]
        for prefix, words in (("", "batch by batch"), ("cumulative_", "over all batches so far")):
            lines = (
                (f"{prefix}welfare_vs_truthful_pct", "realised", "var(--s0)", "solid"),
                (f"{prefix}guaranteed_pct", "guaranteed by κ (Theorem 4.4)", "var(--s1)", "dot"),
            )
            charts.append(
                Chart(
                    key=f"auctions-{point['label']}-{prefix or 'each'}",
                    title=f"{point['label']}, {words}",
                    caption=f"Budgets {SPREAD_BUDGETS} of truthful spend. Lines are means over trials; bars are one "
                    "standard error. 0 is what truthful bids make of the same batch; the dashed line is the paper's "
                    "average.",
                    figure=figure(
                        [_line(found, *line) for line in lines],
                        x=axis("auction"),
                        y=axis("welfare against truthful (%)", zeroline=True),
                        shapes=[_papers_line(-10.0)],
                    ),
                    height=320,
                )
            )
    return tuple(charts)


def budget_levels(points: Sequence[Json], setting: str) -> Chart:
    """Welfare against truthful bids for every level of budgets and every shape, beside the paper's about −10 %."""
    traces = []
    for place, point in enumerate(points):
        levels = point["cells"][setting]["pacing"]
        found = {
            label: interval_of([row["welfare_vs_truthful_pct"] for row in level["trials"]])
            for label, level in levels.items()
        }
        traces.append(
            go.Scatter(
                x=[plain(label) for label in found],
                y=[each.mean for each in found.values()],
                mode="markers",
                name=plain(point["label"]),
                marker={"color": f"var(--s{place})", "symbol": SYMBOLS[place], "size": 10},
                error_y={
                    "type": "data",
                    "array": [0.0 if e.high is None or e.mean is None else e.high - e.mean for e in found.values()],
                    "color": f"var(--s{place})",
                },
                hovertemplate="budgets %{x}: %{y:.2f} %<extra>%{fullData.name}</extra>",
            )
        )
    band = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": -12, "y1": -8, "fillcolor": "var(--q1)"}
    return Chart(
        key="budget-levels",
        title="What budgets cost, by their size",
        caption="Budgets as shares of what each user would pay if all were truthful; 95 % intervals over seeds. "
        "Shaded: 8 … 12 % below, our reading of the paper's “about 10 %”, whose budgets its text does not state.",
        figure=figure(
            traces,
            x=axis("budgets", type="category"),
            y=axis("welfare against truthful (%)", zeroline=True),
            shapes=[{**band, "line": {"width": 0}, "layer": "below"}],
        ),
    )


def run_time_charts(run_times: Json) -> tuple[Chart, ...]:
    """CPU time of the auction's parts against the number of requests, on logarithmic axes; a chart a series."""
    charts = []
    for series in dict.fromkeys(row["series"] for row in run_times["rows"]):
        rows = [row for row in run_times["rows"] if row["series"] == series]
        tokens = rows[-1]["prompt_tokens"]
        traces = [
            go.Scatter(
                x=[row["n"] for row in rows],
                y=[1e3 * row[key]["mean"] for row in rows],
                mode="lines+markers",
                name=name,
                line={"color": f"var(--s{place})", "dash": DASHES[place], "width": 2},
                marker={"symbol": SYMBOLS[place], "size": 8},
                error_y={"type": "data", "array": [_half(row[key]) for row in rows], "color": f"var(--s{place})"},
                hovertemplate="n = %{x:,}: %{y:.4g} ms<extra>%{fullData.name}</extra>",
            )
            for place, (key, name) in enumerate(_TIMES)
            if rows[0][key] is not None
        ]
        charts.append(
            Chart(
                key=f"times-{series.replace(' ', '-')}",
                title=f"{series}, {tokens:,.0f} tokens each",
                caption="CPU time in this process on this machine, the least of several repetitions; means over "
                "trials.",
                figure=figure(
                    traces, x=axis("requests n", type="log", dtick=1), y=axis("CPU time (ms)", type="log", dtick=1)
                ),
            )
        )
    return tuple(charts)


def _half(found: Json) -> float:
    return 0.0 if found["high"] is None else 1e3 * float(found["high"] - found["mean"])


def _line(found: Json, key: str, name: str, color: str, dash: str) -> go.Scatter:
    """A mean with bars of one standard error."""
    return go.Scatter(
        x=[auction + 1 for auction in found["auction"]],
        y=found[key]["mean"],
        mode="lines",
        name=name,
        line={"color": color, "dash": dash, "width": 2},
        error_y={"type": "data", "array": [se or 0.0 for se in found[key]["se"]], "thickness": 1, "width": 0},
        hovertemplate=f"auction %{{x}}: %{{y:.2f}} %<extra>{name}</extra>",
    )


def _papers_line(y: float) -> dict[str, Any]:
    line = {"color": "var(--muted)", "width": 1.5, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line, "layer": "below"}

"""The trace page: what `describe` found, as one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from reports._page import write_page
from reports.chart import Chart, axis, figure
from sim.describe import PERCENTS, Description, Lengths

__all__ = ["write_trace_page"]

_PROMPT = {"color": "var(--s0)", "width": 2}
_OUTPUT = {"color": "var(--s1)", "width": 2, "dash": "dash"}


def write_trace_page(found: Description, out: Path) -> Path:
    """Write the page of a described trace to `out`, whole or not at all; returns `out`.

    The page needs no network, follows the reader's light or dark setting, and holds one copy of plotly.js.
    """
    title = f"{Path(found.source).name or found.source} · {found.kind}"
    context = {
        "title": title,
        "found": found,
        "reading": _reading(found),
        "cards": _cards(found),
        "rate": _rate(found),
        "sharing": _sharing(found),
        "bounded": _bounded(found),
        "lengths": _lengths(found),
        "rows": _rows(found),
        "data": _facts(found),
    }
    return write_page("trace_page.html.j2", out, context)


def _reading(found: Description) -> str:
    """The trace in one sentence or two."""
    asked = f"{found.num_requests:,} requests"
    if found.num_sessions is not None:
        asked += f" in {found.num_sessions:,} sessions"
    when = "without a clock"
    if found.arrivals is not None:
        when = f"over {found.arrivals.span_s:,.0f} s"
    shared = "Prompts share nothing"
    if found.prefix_hit_rate > 0:
        shared = f"A cache of prompts only that never forgets would serve {found.prefix_hit_rate:.1%} of their tokens"
    fit = f"{found.share_above_kv:.1%} of prompts are longer than {found.kv_tokens:,} tokens"
    return f"{asked} {when}. {shared}; {fit}."


def _cards(found: Description) -> Sequence[tuple[str, str, str]]:
    """Title, number and a note of each card."""
    arrivals = found.arrivals
    rate, meets = "no clock", ""
    if arrivals is not None:
        rate = "all at once" if arrivals.request_rate is None else f"{arrivals.request_rate:.4g} /s"
        meets = f"the median request meets {arrivals.busy_rate:.4g} /s"
    recorded = "recorded: not said"
    if found.recorded_hit_rate is not None:
        recorded = f"recorded by the server: {found.recorded_hit_rate:.1%}"
    return (
        ("Request rate", rate, meets),
        ("Prompt tokens", f"{found.prompt_tokens.mean:,.0f}", f"mean; median {found.prompt_tokens.p50:,.0f}"),
        ("Output tokens", f"{found.output_tokens.mean:,.0f}", f"mean; median {found.output_tokens.p50:,.0f}"),
        ("Prefix hit rate, prompts only", f"{found.prefix_hit_rate:.1%}", recorded),
        (f"Above {found.kv_tokens:,} tokens", f"{found.share_above_kv:.1%}", f"{found.num_above_kv:,} prompts"),
    )


def _rate(found: Description) -> Chart:
    arrivals = found.arrivals
    drawn = None
    caption = ""
    if arrivals is not None and arrivals.span_s > 0:
        starts = (np.arange(len(arrivals.requests)) * arrivals.bin_s).tolist()
        rates = (np.array(arrivals.requests) / arrivals.bin_s).tolist()
        hover = "from %{x:,} s: %{y:.4g} requests/s<extra></extra>"
        bars = go.Bar(
            x=starts,
            y=rates,
            width=arrivals.bin_s,
            offset=0,
            marker={"color": "var(--s0)", "line": {"width": 0}},
            hovertemplate=hover,
        )
        drawn = figure(
            [bars], x=axis("time from the first arrival, s"), y=axis("requests/s", rangemode="tozero"), legend=False
        )
        caption = f"Bins of {arrivals.bin_s:g} s. {arrivals.loaded_share:.0%} of them are loaded: at least a tenth of "
        caption += f"the {arrivals.busy_rate:.4g} requests/s that the median request meets."
    why = "The trace has no clock." if arrivals is None else "All requests arrive at one time."
    return Chart(key="rate", title="Rate over time", caption=caption, figure=drawn, missing=why, height=320)


def _lengths(found: Description) -> Chart:
    curves = [
        _ecdf("prompt", found.prompt_tokens, _PROMPT, "%{x:,.0f} tokens"),
        _ecdf("output", found.output_tokens, _OUTPUT, "%{x:,.0f} tokens"),
    ]
    limit = {"type": "line", "x0": found.kv_tokens, "x1": found.kv_tokens, "yref": "paper", "y0": 0, "y1": 1}
    mark = {**limit, "line": {"color": "var(--muted)", "width": 1.5, "dash": "dot"}}
    return Chart(
        key="lengths",
        title="Lengths",
        caption=f"Share of requests up to a length. The dotted line is a KV cache of {found.kv_tokens:,} tokens.",
        figure=figure(curves, x=axis("tokens", type="log"), y=axis("% of requests", range=[0, 100]), shapes=[mark]),
    )


def _sharing(found: Description) -> Chart:
    drawn = None
    if found.prefix_hit_rate > 0:
        shares = _ecdf("shared", found.shared_share, _PROMPT, "%{x:.1f} % shared", scale=100.0)
        x, y = axis("% of the prompt", range=[0, 100]), axis("% of requests", range=[0, 100])
        drawn = figure([shares], x=x, y=y, legend=False)
    return Chart(
        key="sharing",
        title="How much of a prompt an earlier one began with",
        caption="Share of requests up to a shared fraction: the longest common prefix with any earlier prompt.",
        figure=drawn,
        missing="No prompt begins like an earlier one.",
    )


def _bounded(found: Description) -> str:
    """How a server's cache differs from the one that the sharing is measured with."""
    if found.answers_recorded:
        return "The answers are recorded too and left out here: a server's cache holds them, so it may hit more."
    return "A bounded cache has less."


def _ecdf(name: str, lengths: Lengths, line: Mapping[str, Any], hover: str, scale: float = 1.0) -> go.Scatter:
    return go.Scatter(
        x=[value * scale for value in lengths.curve],
        y=PERCENTS.tolist(),
        mode="lines",
        name=name,
        line=dict(line),
        hovertemplate=f"{hover}: %{{y}} % of requests<extra>{name}</extra>",
    )


def _rows(found: Description) -> Sequence[Sequence[str]]:
    """The table of lengths: a name and its numbers."""
    rows = [("prompt tokens", found.prompt_tokens), ("output tokens", found.output_tokens)]
    if found.turns is not None:
        rows.append(("requests a session", found.turns))
    return [
        [name, *(f"{each:,.0f}" for each in (d.mean, d.p50, d.p90, d.p95, d.p99, d.max, d.total))] for name, d in rows
    ]


def _facts(found: Description) -> Mapping[str, Any]:
    """What the page says about the file itself."""
    return {
        "file": found.source,
        "format": found.kind,
        "left out": dict(found.dropped) or "nothing",
        "measured by the workload": dict(found.facts) or "nothing",
    }

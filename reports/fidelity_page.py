"""The fidelity page: does the simulation say what the server does, and does the server repeat itself?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from reports._page import write_page
from reports.figures import fidelity
from reports.text import number
from sim.validation import ScheduleFidelity, Validation, Verdict
from sim.validation_table import MEASURES, clock_note, shares_text

__all__ = ["write_fidelity_page"]

_DIFFERENT = 20


def write_fidelity_page(found: Validation, out: Path) -> Path:
    """Write the page to `out`, whole or not at all; returns `out`. It needs no network."""
    pairs = fidelity.Pairs.of(found.live[0], found.simulated[0])
    context = {
        "title": found.scenario,
        "passed": found.passed,
        "reading": _reading(found),
        "cards": [_card(measure, found) for measure in MEASURES],
        "heads": ("Schedule", "Measure", "Error", "Server against itself", "Claimed", "Threshold", "Verdict"),
        "rows": [row for each in found.schedules for row in _rows(each)],
        "scatter": fidelity.scatter(pairs),
        "residuals": fidelity.residuals(pairs),
        "hit_rate": fidelity.hit_rate_over_time(pairs),
        "cached": [_cached_row(each) for each in found.schedules],
        "different": _different(pairs),
        "warnings": found.warnings,
        "server": {key: value for key, value in found.server.items() if key != "runs"},
        "profile": _profile(found.profile),
    }
    return write_page("fidelity_page.html.j2", out, context)


def _reading(found: Validation) -> Sequence[str]:
    judged = [(each.schedule, v) for each in found.schedules for v in each.verdicts if v.threshold is not None]
    failed = [f"{schedule}: {MEASURES[v.measure][0]}" for schedule, v in judged if not v.passed]
    if failed:
        verdict = f"{len(failed)} of {len(judged)} thresholds do not hold: {'; '.join(failed)}."
        wandering = sum(v.server_wanders for _, v in judged)
        if wandering:
            verdict += f" In {wandering} of them two runs of the server itself differ by more than the threshold."
    else:
        verdict = (
            f"All {len(judged)} thresholds hold, over {len(found.schedules)} schedules and {found.runs} live runs."
        )
    known = sum(each.ours.num_cached_known for each in found.schedules)
    equal = sum(each.ours.num_cached_equal for each in found.schedules)
    exact = f"Of {known:,} requests, {equal:,} found exactly as many cached tokens in the simulation as on the server."
    own = [share for each in found.schedules for share in each.own_equal_pct]
    if own:
        exact += f" That is {100 * equal / known:.1f} %; two live runs agree on {sum(own) / len(own):.1f} %."
    if found.in_flight is None or found.in_flight == 1:
        clock = "What is decided does not depend on the server's clock here, so it can be exact."
    else:
        clock = clock_note(found.in_flight)
    return (verdict, f"{exact} {clock}")


def _text(measure: str, value: float | None) -> str:
    if value is None:
        return "not measured"
    if measure == "order_tau":
        return number(value, 4)
    return f"{number(value, 2)} {MEASURES[measure][1]}"


def _card(measure: str, found: Validation) -> tuple[str, str, str]:
    """The worst schedule of a measure."""
    verdicts = [(each.schedule, v) for each in found.schedules for v in each.verdicts if v.measure == measure]
    known = [(schedule, v) for schedule, v in verdicts if v.claimed is not None]
    if not known:
        return MEASURES[measure][0], "not measured", ""
    sign = -1 if measure == "order_tau" else 1
    schedule, worst = max(known, key=lambda pair: sign * (pair[1].claimed or 0.0))
    own = "one run, no spread" if worst.spread is None else f"the server itself: {_text(measure, worst.spread)}"
    return MEASURES[measure][0], _text(measure, worst.error), f"worst: {schedule}; {own}; {_verdict(worst)}"


def _verdict(verdict: Verdict) -> str:
    if verdict.threshold is None:
        return "not judged"
    if verdict.server_wanders:
        return "does not hold: the server itself wanders"
    return "holds" if verdict.passed else "does not hold"


def _rows(each: ScheduleFidelity) -> Sequence[tuple[str, ...]]:
    rows = []
    for v in each.verdicts:
        numbers = (v.error, v.spread, v.claimed)
        limit = "none" if v.threshold is None else _text(v.measure, v.threshold)
        cells = [_text(v.measure, value) for value in numbers]
        rows.append((each.schedule, MEASURES[v.measure][0], *cells, limit, _verdict(v)))
    mape = (each.ours.ttft_mape_pct, None if each.own is None else each.own.ttft_mape_pct)
    cells = ["not measured" if value is None else f"{number(value, 2)} %" for value in mape]
    rows.append((each.schedule, "TTFT, request by request", *cells, "", "none", "not judged"))
    return rows


def _cached_row(each: ScheduleFidelity) -> tuple[str, ...]:
    ours, own = each.ours, each.own
    return (
        each.schedule,
        shares_text(each.equal_pct),
        "one run" if own is None else shares_text(each.own_equal_pct),
        f"{ours.num_lost:,}",
        "yes" if each.evicting else "no",
    )


def _different(pairs: Sequence[fidelity.Pairs]) -> Sequence[tuple[str, ...]]:
    """The first requests whose cached tokens differ, in the order of the server's first tokens."""
    rows = pl.concat([each.rows for each in pairs]) if pairs else pl.DataFrame()
    if rows.is_empty():
        return ()
    wrong = rows.filter(pl.col("cached_tokens") != pl.col("cached_tokens_s")).sort("schedule", "trial", "first_token_s")
    return [
        (
            f"{row['schedule']}, trial {row['trial']}, {row['request_id']}",
            f"{row['prompt_tokens']:,}",
            f"{row['cached_tokens']:,}",
            f"{row['cached_tokens_s']:,}",
        )
        for row in wrong.head(_DIFFERENT).to_dicts()
    ]


def _profile(profile: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reader wants to know of it here."""
    keys = ("name", "latency", "kv_tokens", "provenance", "held_out_error_percent", "unidentified")
    return {key: _short(profile[key]) for key in keys if key in profile}


def _short(data: Any) -> Any:
    """Numbers as people read them, at any depth."""
    if isinstance(data, Mapping):
        return {key: _short(value) for key, value in data.items()}
    return number(data) if isinstance(data, float) else data

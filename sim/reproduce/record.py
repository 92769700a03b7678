"""A figure as a record: what its page, the terminal's table and ``--json`` are made of."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.compare_stats import interval_of
from sim.reproduce.claims import Claim, Part
from sim.reproduce.claims_market import CLAIMS
from sim.reproduce.earlier import earlier_range
from sim.reproduce.engine_settings import SETTINGS
from sim.reproduce.experiments import Figure, PanelPoint
from sim.reproduce.judging import RULE, VERDICTS, Finding, interval_json, judge
from sim.reproduce.readings import Readings
from sim.reproduce.run_time import RunTimes
from sim.reproduce.text_source import TextSource
from sim.sweep_cell import package_version

__all__ = ["METRICS", "claim_verdict", "figure_record"]

#: What the paper plots: metric of summary.json → (title, unit, scale).
METRICS = {
    "welfare_pct_over_random": ("welfare over a random order", "%", 1.0),
    "hit_rate": ("cache hit rate", "%", 100.0),
    "mean_ttft_ms": ("mean TTFT", "s", 1e-3),
}

Json = dict[str, Any]


def figure_record(figure: Figure, readings: Sequence[Readings], text: TextSource, seed: int, trials: int) -> Json:
    """Everything that is known of a figure, as plain JSON.

    Parameters
    ----------
    readings : by setting, in the figure's order.
    """
    simulate = ("--seed", str(seed), "--trials", str(trials))
    data = [] if text.data is None else ["--data", str(text.data)]
    return {
        "figure": figure.name,
        "title": figure.title,
        "version": package_version(),
        "seed": seed,
        "trials": trials,
        "text": text.words,
        "data": None if text.data is None else str(text.data),
        "command": shlex.join(["inference-auctions", "reproduce", figure.name, *simulate, *data]),
        "rule": RULE,
        "settings": [{"name": setting.name, "words": setting.words} for setting in SETTINGS],
        "panels": [
            {
                "key": panel.key,
                "title": panel.title,
                "axis": panel.axis,
                "logarithmic": panel.logarithmic,
                "points": [_point(point, figure, readings, text, simulate) for point in panel.points],
            }
            for panel in figure.panels
        ],
        "run_times": None if readings[0].run_times is None else _run_times(readings[0].run_times),
        "claims": [_claim(claim, readings) for claim in CLAIMS[figure.name]],
    }


def claim_verdict(claim: Mapping[str, Any], setting: str) -> str:
    """A claim's verdict in a setting: the worst of its parts'."""
    worst: str = max((part["settings"][setting]["verdict"] for part in claim["parts"]), key=VERDICTS.index)
    return worst


def _over_trials(numbers: Iterable[float | None]) -> Json:
    """The interval of a number over trials; NaN and None are trials without it."""
    return interval_json(interval_of([None if each is None or math.isnan(each) else float(each) for each in numbers]))


def _point(
    point: PanelPoint, figure: Figure, readings: Sequence[Readings], text: TextSource, simulate: Sequence[str]
) -> Json:
    name, overrides = text.scenarios[point.experiment.shape]
    cells = {}
    for setting, found in zip(figure.settings, readings, strict=True):
        changes = [f"--set={change}" for change in (*overrides, *point.experiment.overrides, *setting.overrides)]
        summary = found.summaries[point.experiment]
        cells[setting.name] = {
            "command": shlex.join(["inference-auctions", "simulate", name, *changes, *simulate]),
            "schedules": {
                label: {metric: _over_trials([row[metric] for row in schedule["trials"]]) for metric in METRICS}
                for label, schedule in summary["schedules"].items()
            },
            "pacing": summary.get("pacing", {}).get("schedules"),
        }
    return {"x": point.x, "label": point.label, "cells": cells}


def _claim(claim: Claim, readings: Sequence[Readings]) -> Json:
    record: Json = {
        "key": claim.key,
        "figure": claim.figure,
        "name": claim.name,
        "text": claim.text,
        "source": claim.source,
        "rule": claim.rule,
        "assumption": claim.assumption,
        "engine": claim.engine,
        "parts": [_part(part, claim, readings) for part in claim.parts],
    }
    record["verdict"] = {setting.name: claim_verdict(record, setting.name) for setting in SETTINGS}
    return record


def _part(part: Part, claim: Claim, readings: Sequence[Readings]) -> Json:
    if claim.engine:
        found = {each.setting: judge(part, each) for each in readings}
    else:
        found = dict.fromkeys((setting.name for setting in SETTINGS), judge(part, readings[0]))
    low, high = part.within.low, part.within.high
    return {
        "label": part.label,
        "stated": part.stated,
        "range": {
            "low": None if math.isinf(low) else low,
            "high": None if math.isinf(high) else high,
            "words": part.within.words(part.unit),
            "basis": part.within.basis,
        },
        "earlier": _earlier(part, claim, found),
        "unit": part.unit,
        "every": part.every,
        "settings": {name: each.to_json() for name, each in found.items()},
    }


def _earlier(part: Part, claim: Claim, found: Mapping[str, Finding]) -> Json | None:
    """What an earlier simulation of this auction gave, and in which settings our mean lies outside it."""
    within = earlier_range(claim.key, part.label)
    if within is None:
        return None
    means = {name: each.found.mean for name, each in found.items()}
    outside = [name for name, mean in means.items() if mean is not None and within.distance(mean) > 0]
    return {"low": within.low, "high": within.high, "words": within.words(part.unit), "outside": outside}


def _run_times(times: RunTimes) -> Json:
    return {
        "machine": times.machine,
        "rows": [
            {
                "series": row.series,
                "n": row.n,
                "prompt_tokens": row.prompt_tokens,
                **{
                    name: None if getattr(row, name) is None else _over_trials(getattr(row, name))
                    for name in ("tree_s", "schedule_s", "payments_s", "naive_s")
                },
            }
            for row in times.rows
        ],
    }

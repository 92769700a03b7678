"""The tables of the reproduction pages: claims, numbers behind the curves, budgets, run times, commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.compare_stats import interval_of
from sim.reproduce.judging import interval_json
from sim.reproduce.record import METRICS
from sim.reproduce.words import SAME_IN_ALL, found_words, interval_words, unbroken

__all__ = ["budget_rows", "claim_rows", "commands", "earlier_words", "number_rows", "run_time_rows"]

Json = Mapping[str, Any]

_MARKS = {"yes": "✓", "yes, not resolved": "(✓)", "cannot tell": "?", "no": "✗"}
_CLASSES = {"yes": "agrees", "yes, not resolved": "open", "cannot tell": "open", "no": "differs"}


def claim_rows(record: Json) -> list[Json]:
    """The claims of a figure with a line for each of their numbers, as the template shows them."""
    names = [setting["name"] for setting in record["settings"]]
    return [
        {
            **{key: claim[key] for key in ("key", "figure", "text", "source", "rule", "assumption", "engine")},
            "verdicts": [_verdict(claim["verdict"][name]) for name in names],
            "parts": [_part(claim, part, names) for part in claim["parts"]],
        }
        for claim in record["claims"]
    ]


def _verdict(verdict: str) -> Json:
    return {"mark": _MARKS[verdict], "words": verdict, "css": _CLASSES[verdict]}


def _part(claim: Json, part: Json, names: Sequence[str]) -> Json:
    cells, earlier = [], part["earlier"]
    for name in names if claim["engine"] else names[:1]:
        found = part["settings"][name]
        first = found["first_three_trials"]
        notes = [] if first is None else [f"first 3 seeds: {interval_words(first, part['unit'])}"]
        if found["could_be_chance_of_three_trials"]:
            notes.append("three trials may miss by so much")
        if earlier is not None and name in earlier["outside"]:
            notes.append("outside the earlier simulation's")
        told = unbroken(found_words(found, part["unit"]))
        cells.append({**_verdict(found["verdict"]), "found": told, "notes": [unbroken(note) for note in notes]})
    return {
        "label": part["label"],
        "stated": unbroken(part["stated"]),
        "range": f"{unbroken(part['range']['words'])} ({part['range']['basis']})",
        "earlier": "" if earlier is None else f"an earlier simulation: {unbroken(earlier['words'])}",
        "cells": cells,
        "same": "" if claim["engine"] else SAME_IN_ALL,
    }


def earlier_words(records: Sequence[Json]) -> str:
    """Which of our numbers lie outside what an earlier simulation gave, and in which settings; "" if it gave none."""
    names = [setting["name"] for setting in records[0]["settings"]]
    parts = [
        (claim, part)
        for record in records
        for claim in record["claims"]
        for part in claim["parts"]
        if part["earlier"] is not None
    ]
    if not parts:
        return ""
    outside = [
        f"{part['label']} ({', '.join(found) if claim['engine'] and found != names else 'every setting'})"
        for claim, part in parts
        if (found := part["earlier"]["outside"])
    ]
    listed = f": {'; '.join(outside)}" if outside else ""
    return unbroken(
        f"Of {len(parts)} numbers for which an earlier simulation of this auction gave a range, ours lie outside it in "
        f"{len(outside)}{listed}."
    )


def number_rows(panel: Json, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Every point and schedule of a panel: point, schedule, and each metric in each setting."""
    rows = []
    for point in panel["points"]:
        for label in point["cells"][names[0]]["schedules"]:
            numbers = [
                interval_words(point["cells"][name]["schedules"][label][metric], unit, scale)
                for metric, (_, unit, scale) in METRICS.items()
                for name in names
            ]
            rows.append((f"{point['label']}, {label}", *numbers))
    return rows


def budget_rows(points: Sequence[Json], setting: str) -> list[tuple[str, ...]]:
    """Every shape and level of budgets: welfare against truthful, guarantee, broken promises, spend, regret."""
    rows = []
    for point in points:
        for label, level in point["cells"][setting]["pacing"].items():
            percents = [
                interval_words(interval_json(interval_of([row[key] for row in level["trials"]])), "%")
                for key in ("welfare_vs_truthful_pct", "guaranteed_pct")
            ]
            counts = [f"{level[key]:,}" for key in ("bound_violations", "overspent")]
            shares = ["–" if level[key] is None else f"{level[key]:.1f} %" for key in ("spent_pct", "regret_pct")]
            rows.append((f"{point['label']}, budgets {label}", *percents, *counts, *shares))
    return rows


def run_time_rows(run_times: Json) -> list[tuple[str, ...]]:
    """Every series and size: CPU times of the parts, ms."""
    keys = ("tree_s", "schedule_s", "payments_s", "naive_s")
    return [
        (
            f"{row['series']}, n = {row['n']:,}",
            f"{row['prompt_tokens']:,.0f}",
            *("not timed" if row[key] is None else interval_words(row[key], "ms", 1e3) for key in keys),
            f"{row['tree_s']['n']}",
        )
        for row in run_times["rows"]
    ]


def commands(record: Json) -> list[tuple[str, str]]:
    """(point and setting, the command that runs it alone), for every cell of a figure."""
    return [
        (f"{point['label']} · {name}", cell["command"])
        for panel in record["panels"]
        for point in panel["points"]
        for name, cell in point["cells"].items()
    ]

"""Runs and sweeps as folders with numbers made up by hand, for tests of `compare`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["GRID", "grid_metrics", "scenario", "write_plain_run", "write_sweep"]

Metrics = Mapping[str, float | None]
#: batching.size × workload.sharing.
GRID = {"batching.size": [16, 64, 256], "workload.sharing": [0.1, 0.9]}


def scenario(schedules: Sequence[str] = ("dfs-bid", "bid-sort"), **changes: Any) -> dict[str, Any]:
    """A resolved scenario, as far as a comparison looks at it; changes by key with ``__`` for a dot."""
    data: dict[str, Any] = {
        "name": "toy",
        "seed": 0,
        "trials": 2,
        "workload": {"kind": "stars", "sharing": 0.5},
        "users": {"kind": "per-request"},
        "values": {"kind": "pareto", "shape": 1.5},
        "arrivals": {"kind": "saturated"},
        "batching": {"size": 64},
        "schedule": [{"use": name, "label": name} for name in schedules],
        "payment": {name: {"use": "vcg"} for name in schedules},
        "bidding": {"use": "truthful"},
        "dispatch": {"in_flight": 1},
        "backend": {"use": "simulated", "profile": "tiny", "engine": "0.5.9", "kv_tokens": 1000},
    }
    for key, value in changes.items():
        _put(data, key.replace("__", "."), value)
    return data


def grid_metrics(settings: Mapping[str, Any], schedule: str, trial: int) -> Metrics:
    """bid-sort leads by size/16 − 2 ± 1 over two trials: behind at 16, ahead from 64 on; it waits longer throughout."""
    lead = settings.get("batching.size", 64) / 16 - 2 + (2 * trial - 1)
    bid = schedule == "bid-sort"
    sharing = settings.get("workload.sharing", 0.5)
    return {
        "welfare_pct_over_random": 10.0 + 3 * trial + (lead if bid else 0.0),
        "hit_rate": sharing / 2 if bid else sharing,
        "mean_ttft_ms": 200.0 if bid else 100.0 + trial,
        "p90_ttft_ms": 400.0 if bid else 200.0 + trial,
        "revenue": 5.0 if bid else 0.0,
        "mean_tpot_ms": None,
    }


def summary_of(trials: Mapping[str, Sequence[Metrics]]) -> dict[str, Any]:
    """summary.json, as far as a comparison reads it."""
    schedules = {label: {"statuses": {"ok": 8}, "trials": list(rows), "paired": {}} for label, rows in trials.items()}
    return {"schedules": schedules, "definitions": {"hit_rate": "Σ cached / Σ prompt tokens."}, "seeds": {}}


def write_plain_run(folder: Path, data: Mapping[str, Any], trials: Mapping[str, Sequence[Metrics]]) -> Path:
    """The part of a run folder that a comparison reads, with a page."""
    folder.mkdir(parents=True)
    manifest = {"name": data["name"], "status": "complete", "versions": {"inference-auctions": "0.1.0"}, "warnings": []}
    provenance = {"name": "tiny", "method": "derived from tables, not from a live server"}
    for name, content in (
        ("scenario.yaml", data),
        ("summary.json", summary_of(trials)),
        ("manifest.json", {**manifest, "profile": provenance}),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    (folder / "report.html").write_text("a page", encoding="utf-8")
    return folder


def write_sweep(
    folder: Path,
    axes: Mapping[str, Sequence[Any]],
    metrics: Callable[[Mapping[str, Any], str, int], Metrics] = grid_metrics,
    *,
    schedules: Sequence[str] = ("dfs-bid", "bid-sort"),
    num_trials: int = 2,
    design: str = "grid",
    absent: Mapping[int, str | None] | None = None,
) -> Path:
    """A sweep folder; `absent` = point → why it failed, None = it was not run.

    A grid takes every combination, any other design the values side by side.
    """
    absent = absent or {}
    for part in ("cells", "failures"):
        (folder / part).mkdir(parents=True)
    rows = itertools.product(*axes.values()) if design == "grid" else zip(*axes.values(), strict=True)
    points = []
    for place, values in enumerate(rows):
        settings, key = dict(zip(axes, values, strict=True)), f"{place:064x}"
        points.append({"cell": place, "key": key, "settings": settings})
        if place not in absent:
            _write_cell(folder, key, settings, schedules, num_trials, metrics)
        elif absent[place] is not None:
            failure = {"key": key, "error": absent[place], "traceback": None}
            (folder / "failures" / f"{key}.json").write_text(json.dumps(failure), encoding="utf-8")
    content = {
        "name": "toy-sweep",
        "status": "partial" if absent else "complete",
        "version": "0.1.0",
        "scenario": "toy.yaml",
        "fixed": {"trials": num_trials},
        "axes": [{"key": key, "design": design, "values": list(values)} for key, values in axes.items()],
        "points": points,
        "definitions": {"hit_rate": "Σ cached / Σ prompt tokens."},
        "seeds": {"seed": 0, "trials": num_trials},
        "failures": [],
    }
    (folder / "sweep.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def _write_cell(
    folder: Path,
    key: str,
    settings: Mapping[str, Any],
    schedules: Sequence[str],
    num_trials: int,
    metrics: Callable[[Mapping[str, Any], str, int], Metrics],
) -> None:
    mine = [settings["schedule"]] if "schedule" in settings else list(schedules)
    data = scenario(mine)
    for name, value in settings.items():
        if name != "schedule":
            _put(data, name, value)
    trials = {label: [metrics(settings, label, trial) for trial in range(num_trials)] for label in mine}
    cell = {"key": key, "config_hash": key, "version": "0.1.0", "scenario": data, "summary": summary_of(trials)}
    cell |= {"facts": {}, "warnings": [], "status": "complete"}
    (folder / "cells" / f"{key}.json").write_text(json.dumps(cell), encoding="utf-8")


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    *blocks, last = key.split(".")
    for block in blocks:
        data = data[block]
    data[last] = value

"""A run folder written by hand: four requests, two schedules, two trials, every number worked out on paper.

Requests a, b share a prefix and belong to u1; c is u2's, d is u3's; they arrive as c, a, d, b and are worth
1, 4, 1, 2. dfs-bid serves a, b, c, d: priorities 1, ⅔, ⅓, 0, so welfare is 4 + 4/3 + 1/3 = 17/3 against a random
order's 8/2 = 4: +41.67 %. Without u1's bids c and d go first and win 5/3 instead of 1/3: u1 pays 4/3. Without
u2's, d overtakes c: u2 pays 1/3, all it declared. u3 pays nothing. no-sort serves c, a, d, b: welfare 4, ±0 %,
and b's prefix is gone by then. In the second trial every first token comes 20 ms later under dfs-bid, and all
else is the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

__all__ = ["edit_json", "edit_table", "write_run"]

PLACES = {"dfs-bid": "abcd", "no-sort": "cadb"}
VALUES = {"a": 4.0, "b": 2.0, "c": 1.0, "d": 1.0}
USERS = {"a": "u1", "b": "u1", "c": "u2", "d": "u3"}
PAYMENTS = {"dfs-bid": {"u1": 4 / 3, "u2": 1 / 3, "u3": 0.0}, "no-sort": {"u1": 0.0, "u2": 0.0, "u3": 0.0}}
STEP_S = {"dfs-bid": 0.1, "no-sort": 0.2}
SCENARIO = """\
name: {name}
seed: 7
trials: 2
values: {{kind: pareto, shape: 1.5, offset: 1.0, correlation: 0.0}}
arrivals: {{kind: saturated}}
bidding: {{use: truthful}}
dispatch: {{in_flight: 1}}
backend: {{use: simulated, profile: tiny, kv_tokens: 300}}
"""


def write_run(folder: Path, name: str = "four") -> Path:
    """Write the run and return its folder."""
    folder.mkdir(parents=True)
    pl.DataFrame(_requests()).write_parquet(folder / "requests.parquet")
    pl.DataFrame(_auctions()).write_parquet(folder / "auctions.parquet")
    pl.DataFrame(_payments()).write_parquet(folder / "payments.parquet")
    pl.DataFrame(_engine_steps()).write_parquet(folder / "engine_steps.parquet")
    (folder / "scenario.yaml").write_text(SCENARIO.format(name=json.dumps(name)), encoding="utf-8")
    for file, content in (("summary", _summary()), ("manifest", _manifest(name)), ("tree", _tree())):
        (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def edit_json(path: Path, edit: Callable[[Any], object]) -> None:
    """Change a JSON file in place; NaN may be written, as a careless writer would."""
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def edit_table(path: Path, *columns: pl.Expr) -> None:
    """Replace columns of a Parquet file."""
    pl.read_parquet(path).with_columns(*columns).write_parquet(path)


def _requests() -> list[Mapping[str, object]]:
    rows = []
    for schedule, places in PLACES.items():
        for trial in (0, 1):
            late_s = 0.02 * trial if schedule == "dfs-bid" else 0.0
            for position, request in enumerate(places):
                ttft_s = STEP_S[schedule] * (position + 1) + late_s
                rows.append(
                    {
                        "request_id": request,
                        "schedule": schedule,
                        "trial": trial,
                        "user": USERS[request],
                        "session": None,
                        "turn": None,
                        "batch": 0,
                        "position": position,
                        "prompt_tokens": 100,
                        "cached_tokens": 80 if (schedule, request) == ("dfs-bid", "b") else 0,
                        "output_tokens": 1,
                        "arrival_s": 0.0,
                        "dispatch_s": ttft_s - STEP_S[schedule],
                        "admitted_s": ttft_s - STEP_S[schedule],
                        "first_token_s": ttft_s,
                        "finish_s": ttft_s,
                        "ttft_s": ttft_s,
                        "server_ttft_s": STEP_S[schedule],
                        "client_queue_time_s": ttft_s - STEP_S[schedule],
                        "tpot_s": None,
                        "e2e_s": ttft_s,
                        "value": VALUES[request],
                        "bid": VALUES[request],
                        "priority": 1 - position / 3,
                        "realised_priority": 1 - position / 3,
                        "payment": PAYMENTS[schedule][USERS[request]],
                        "num_retractions": 0,
                        "status": "ok",
                        "error": None,
                    }
                )
    return rows


def _auctions() -> list[Mapping[str, object]]:
    welfare, revenue = {"dfs-bid": 17 / 3, "no-sort": 4.0}, {"dfs-bid": 5 / 3, "no-sort": 0.0}
    return [
        {"schedule": schedule, "trial": trial, "batch": 0, "formed_s": 0.0, "n": 4, "num_users": 3, "tree_nodes": 2}
        | {"scheduled_welfare": welfare[schedule], "declared_welfare": welfare[schedule]}
        | {"revenue": revenue[schedule], "auction_ms": None}
        for schedule in PLACES
        for trial in (0, 1)
    ]


def _payments() -> list[Mapping[str, object]]:
    declared = {
        "dfs-bid": {"u1": 4 + 4 / 3, "u2": 1 / 3, "u3": 0.0},
        "no-sort": {"u1": 4 * 2 / 3, "u2": 1.0, "u3": 1 / 3},
    }
    return [
        {"schedule": schedule, "trial": trial, "batch": 0, "user": user, "num_requests": 2 if user == "u1" else 1}
        | {"declared_value": declared[schedule][user], "obtained_value": declared[schedule][user]}
        | {"payment": paid, "utility": declared[schedule][user] - paid, "multiplier": 1.0, "budget_left": None}
        for schedule in PLACES
        for trial in (0, 1)
        for user, paid in PAYMENTS[schedule].items()
    ]


def _engine_steps() -> list[Mapping[str, object]]:
    return [
        {"schedule": schedule, "trial": trial, "start_s": STEP_S[schedule] * step, "duration_s": STEP_S[schedule]}
        | {"kind": "prefill", "num_requests": 1, "new_tokens": 100, "context_tokens": 0}
        | {"kv_used_tokens": min(300, 100 * (step + 1)), "evicted_tokens": 100 if step == 3 else 0}
        for schedule in PLACES
        for trial in (0, 1)
        for step in range(4)
    ]


def _moments(first: float, second: float) -> dict[str, float | int]:
    return {"mean": (first + second) / 2, "se": abs(second - first) / 2, "n": 2}


def _summary() -> dict[str, Any]:
    trials: dict[str, list[dict[str, float | None]]] = {
        "dfs-bid": [_metrics(17 / 3, 0.2, 250.0, 397.0, 5 / 3), _metrics(17 / 3, 0.2, 270.0, 417.0, 5 / 3)],
        "no-sort": [_metrics(4.0, 0.0, 500.0, 794.0, 0.0)] * 2,
    }
    schedules: dict[str, Any] = {}
    for name, (first, second) in trials.items():
        reported = [metric for metric, number in first.items() if number is not None]
        base = trials["dfs-bid"]
        schedules[name] = {metric: _moments(first[metric], second[metric]) for metric in reported}
        schedules[name]["mean_tpot_ms"] = {"mean": None, "se": None, "n": 0}
        gaps = {metric: (first[metric] - base[0][metric], second[metric] - base[1][metric]) for metric in reported}
        paired = {metric: _moments(*gap) for metric, gap in gaps.items()}
        schedules[name] |= {
            "statuses": {"ok": 8},
            "trials": [first, second],
            "paired": {metric: {"diff": found.pop("mean"), **found} for metric, found in paired.items()},
        }
    definitions = {"hit_rate": "Σ cached / Σ prompt tokens.", "se": "Standard error over trials."}
    return {"schedules": schedules, "definitions": definitions, "seeds": {"seed": 7}}


def _metrics(welfare: float, hit_rate: float, mean_ms: float, p99_ms: float, revenue: float) -> dict[str, Any]:
    return {
        "welfare": welfare,
        "welfare_pct_over_random": 100 * (welfare / 4 - 1),
        "hit_rate": hit_rate,
        "mean_ttft_ms": mean_ms,
        "p99_ttft_ms": p99_ms,
        "mean_tpot_ms": None,
        "revenue": revenue,
    }


def _manifest(name: str) -> dict[str, Any]:
    provenance = {"method": "derived from tables, not from a live server"}
    return {
        "name": name,
        "status": "complete",
        "started_at": "2026-11-30T05:07:11+00:00",
        "duration_s": 1.25,
        "seed": 7,
        "trials": 2,
        "versions": {"python": "3.11.2", "numpy": "2.3.1"},
        "backend": {"use": "simulated", "kv_tokens": 300, "context_tokens": None},
        "profile": {"name": "tiny", "provenance": provenance, "quote_as": "prefill ±10 %"},
        "warnings": ["two arrivals were sorted"],
        "dropped": {"zero output": 3},
    }


def _tree() -> dict[str, Any]:
    rows = [
        (None, 0, 4, 2.0),
        (0, 80, 2, 3.0),
        (1, None, 1, 4.0),
        (1, None, 1, 2.0),
        (0, None, 1, 1.0),
        (0, None, 1, 1.0),
    ]
    nodes = [
        {"id": identity, "parent": parent, "depth_tokens": depth, "requests": requests, "children": 0, "merged": 0}
        | {"average_bid": bid, "average_value": bid}
        for identity, (parent, depth, requests, bid) in enumerate(rows)
    ]
    return {"nodes": nodes, "levels": 2, "note": ""}

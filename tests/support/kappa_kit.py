"""Batches for tests of the κ command and its page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree
from sim.kappa import KappaOfBatch, PricedBatch

__all__ = ["FOUR", "RUN_SCENARIO", "priced", "write_rows"]

#: root → {7 → {7 8, 7 9, 7 ends}, 1}: worth 3, 2, 1 and 1; u2 bids half, u4 twice its value. By hand: at the root
#: Ω = 6 and κ = 2.4, and 3 is lost; below 7 Ω = 8 and κ = 2, and nothing is (tests/mechanism/test_bounds.py). The pair
#: bound allows 3.5 at the root (one pair: no less than κ) and ½·2·1 = 1 below 7, where only (7 9, 7) may be inverted.
FOUR: list[dict[str, Any]] = [
    {"user": "u1", "bid": 3.0, "value": 3.0, "tokens": [7, 8]},
    {"user": "u2", "bid": 1.0, "value": 2.0, "tokens": [7, 9]},
    {"user": "u3", "bid": 1.0, "value": 1.0, "tokens": [7]},
    {"user": "u4", "bid": 2.0, "value": 1.0, "tokens": [1]},
]

RUN_SCENARIO = """\
name: priced
workload: {kind: jsonl, path: rows.jsonl}
bidding: from-trace
schedule: [dfs-bid, bid-sort, no-sort]
batching: {size: 5}
dispatch: {in_flight: 2}
backend: {use: simulated, kv_tokens: 1000}
"""


def priced(rows: Sequence[dict[str, Any]], **labels: Any) -> KappaOfBatch:
    """The κ bound of rows as they would stand in a file."""
    names = {name: number for number, name in enumerate(dict.fromkeys(row["user"] for row in rows))}
    return KappaOfBatch.of(
        PricedBatch(
            tree=build_tree(Prompts.from_lists([row["tokens"] for row in rows])),
            bids=np.array([row["bid"] for row in rows], dtype=np.float64),
            values=np.array([row["value"] for row in rows], dtype=np.float64),
            users=np.array([names[row["user"]] for row in rows], dtype=np.int64),
            user_names=tuple(names),
            request_id=tuple(str(line) for line in range(1, len(rows) + 1)),
            **labels,
        )
    )


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """A batch file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path

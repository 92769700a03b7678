"""Games for audits, and lies repeated by hand: what the JSON prints, applied to a batch file and cleared as one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.audit.game import Game
from mechanism.model import PricingRule, SchedulingRule
from mechanism.prompts import Prompts
from sim.batch_file import read_batch
from sim.clearing_report import clear_batch

__all__ = ["game_of", "plainly", "repeated", "utilities", "write_rows"]

Row = dict[str, Any]


def game_of(
    rows: Sequence[Sequence[int]],
    values: Sequence[float],
    users: Sequence[int],
    schedule: SchedulingRule,
    pricing: PricingRule,
) -> Game:
    """Token prompts."""
    return Game(
        prompts=Prompts.from_lists(rows),
        values=np.array(values, dtype=np.float64),
        users=np.array(users, dtype=np.int64),
        num_users=max(users) + 1,
        schedule=schedule,
        pricing=pricing,
    )


def write_rows(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def plainly(rows: Sequence[Row]) -> list[Row]:
    """The truth: every bid its value."""
    return [{**row, "value": row.get("value", row["bid"]), "bid": row.get("value", row["bid"])} for row in rows]


def repeated(rows: Sequence[Row], lie: Mapping[str, Any], *, trick: bool = True) -> list[Row]:
    """The batch of a printed lie; without its trick: the same bids told plainly."""
    by_id = {row["id"]: row for row in rows}
    changed = []
    for row in plainly(rows):
        row["bid"] = lie["bids"].get(row["id"], row["bid"])
        if trick:
            row["user"] = lie["names"].get(row["id"], row["user"])
        if trick and row["id"] in lie["prefixes"]:
            prefix = lie["prefixes"][row["id"]]
            put_in_front(row, prefix, by_id.get(prefix["of_request"]))
        changed.append(row)
    return changed


def put_in_front(row: Row, prefix: Mapping[str, Any], copied: Row | None) -> None:
    if "prompt" in row:
        front = prefix["character"] if copied is None else copied["prompt"][: prefix["first_characters"]]
        row["prompt"] = front + row["prompt"]
    elif "tokens" in row:
        front = [prefix["token"]] if copied is None else copied["tokens"][: prefix["first_tokens"]]
        row["tokens"] = front + row["tokens"]
    else:
        size = row["block_tokens"] = prefix["block_tokens"]
        front = [prefix["block"]] if copied is None else copied["hash_ids"][: prefix["first_tokens"] // size]
        row["hash_ids"] = front + row["hash_ids"]
        row["input_length"] += prefix["tokens_added"]


def utilities(
    path: Path,
    rows: Sequence[Row],
    owners: Mapping[str, str],
    schedule: str,
    payment: str,
    tokenizer: str | None = None,
) -> dict[str, float]:
    """Utilities by true owner, as the `auction` command has them."""
    cleared = clear_batch(read_batch(write_rows(path, rows), tokenizer=tokenizer), schedule, payment)
    values = {row["id"]: row["value"] for row in rows}
    found = dict.fromkeys(owners.values(), 0.0)
    for row in cleared["requests"]:
        found[owners[row["id"]]] += values[row["id"]] * row["priority"] - row["payment"]
    return found

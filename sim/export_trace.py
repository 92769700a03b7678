"""A trial's requests as a `.jsonl` file that `kind: jsonl` reads back to the same requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechanism.prompts import IntArray, Prompts
from sim.errors import ScenarioError
from sim.requests import RequestTable
from sim.run_folder import partial_beside

if TYPE_CHECKING:
    from sim.scenario import Scenario

__all__ = ["export_first_trial", "export_trace"]


def export_first_trial(scenario: Scenario, path: Path) -> None:
    """Write the requests of a scenario's trial 0."""
    from sim.population import make_requests

    export_trace(make_requests(scenario, 0)[0], path)


def export_trace(requests: RequestTable, path: str | Path) -> None:
    """Write `requests` to `path`, whole or not at all.

    Replayed with the defaults of `kind: jsonl` the file gives the same requests: arrivals to the nanosecond, values
    and bids to the last bit. `arrival_s` is left out where everything arrives at 0 (saturated arrivals, and closed
    loops, whose clock the market makes).

    Raises
    ------
    ScenarioError
        What the format cannot spell: prompts of blocks of several sizes, answers that are blocks, turns that wait for
        answers, and requests that the workload's own limit rejects. Or a `path` that is a folder, or in none.
    """
    _check(requests)
    target = Path(path)
    temporary = partial_beside(target)
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(requests))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _check(requests: RequestTable) -> None:
    if requests.output_ids is not None and requests.output_ids.lengths is not None:
        raise ScenarioError("--export-trace", "answers of blocks", "answers of single tokens, or none recorded")
    if requests.refused is not None and requests.refused.any():
        hint = "Write over_limit: skip or truncate."
        raise ScenarioError("--export-trace", "requests over max_prompt_tokens", "requests that may be served", hint)
    if requests.follows is not None:
        hint = "Write arrivals: {kind: trace} to export the recorded times instead."
        raise ScenarioError("--export-trace", "turns that wait for answers", "arrivals a clock gives", hint)


def _rows(requests: RequestTable) -> Iterator[dict[str, Any]]:
    clock = bool(requests.arrival_ns.any())
    for r, name in enumerate(requests.request_id):
        row: dict[str, Any] = {
            "id": name,
            "user": requests.user_names[requests.user[r]],
            "bid": float(requests.stated_bid[r]),
            "value": float(requests.value[r]),
        }
        if clock:
            row["arrival_s"] = int(requests.arrival_ns[r]) / 1e9
        if requests.session is not None:
            row["session"] = requests.session[r]
        if requests.turn is not None:
            row["turn"] = int(requests.turn[r])
        row["output_tokens"] = int(requests.output_tokens[r])
        recorded = requests.output_recorded is None or requests.output_recorded[r]
        if requests.output_ids is not None and recorded:
            row["output_ids"] = _symbols(requests.output_ids, r).tolist()
        yield row | _prompt(requests.prompts, r, name)


def _symbols(prompts: Prompts, r: int) -> IntArray:
    return prompts.symbols[prompts.indptr[r] : prompts.indptr[r + 1]]


def _prompt(prompts: Prompts, r: int, name: str) -> dict[str, Any]:
    ids = _symbols(prompts, r).tolist()
    if prompts.lengths is None:
        return {"tokens": ids}
    lengths = prompts.lengths[prompts.indptr[r] : prompts.indptr[r + 1]]
    size = int(lengths[0])
    if (lengths[:-1] != size).any() or lengths[-1] > size:
        raise ScenarioError(f"request {name}", f"blocks of {lengths.tolist()} tokens", "blocks of one size to export")
    return {"hash_ids": ids, "input_length": int(lengths.sum()), "block_tokens": size}

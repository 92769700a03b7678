"""A small scenario on a fake server, by the library or by the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from backends.openai import Openai
from backends.sglang import Sglang
from sim.scenario import load_scenario
from sim.simulate import RunResult, run

__all__ = ["SMALL", "on", "rows", "scenario_text", "served"]

SMALL = """\
name: small
workload: {kind: stars, num_requests: 12, output_tokens: 4, cluster_size: 4, prefix_tokens: 30,
  question_tokens: [5, 9], singleton_tokens: 40}
schedule: [dfs-bid]
batching: {size: 6}
dispatch: {in_flight: 1}
"""


def scenario_text(url: str, use: str = "sglang", more: str = "", text: str = SMALL) -> str:
    """SMALL with a live backend that tries once."""
    patience = "request_timeout_s: 60.0, ready_timeout_s: 60.0, retries: 0"
    return f"{text}backend: {{use: {use}, url: {url}, {patience}{more}}}\n"


def on(folder: Path, url: str, use: str = "sglang", *overrides: str, more: str = "", text: str = SMALL) -> RunResult:
    """Run it."""
    path = folder / "scenario.yaml"
    path.write_text(scenario_text(url, use, more, text), encoding="utf-8")
    scenario = load_scenario(path, {"sglang": Sglang, "openai": Openai}, overrides=overrides)
    return run(scenario, scenario.backend.config)


def rows(result: RunResult) -> pl.DataFrame:
    """The requests of a run, by dispatch."""
    return pl.concat(result.frames["requests"])


def served(result: RunResult, status: str) -> list[dict[str, Any]]:
    """The requests that ended in a status."""
    return rows(result).filter(pl.col("status") == status).to_dicts()

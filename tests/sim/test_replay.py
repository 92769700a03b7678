"""CASES.md C12, end to end: a run replayed from its exported trace has the same records, request by request."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from backends.simulated import Simulated
from sim.export_trace import export_trace
from sim.population import make_requests
from sim.scenario import Scenario, load_scenario
from sim.simulate import run

TEXT = """\
name: replay
workload: WORKLOAD
BLOCKSbatching: {size: 16, max_wait_s: 0.2}
schedule: [dfs-bid, no-sort]
dispatch: {in_flight: 4}
backend: {use: simulated, kv_tokens: 9000}
"""


def load(folder: Path, workload: str, blocks: str = "") -> Scenario:
    path = folder / "replay.yaml"
    path.write_text(TEXT.replace("WORKLOAD", workload).replace("BLOCKS", blocks), encoding="utf-8")
    return load_scenario(path, {"simulated": Simulated})


def records(scenario: Scenario) -> pl.DataFrame:
    return pl.concat(run(scenario, scenario.backend.config).frames["requests"])


@pytest.mark.parametrize(
    "blocks",
    [
        "",
        "arrivals: {kind: poisson, request_rate: 40}\nusers: {kind: random, count: 5}\n",
        "values: {kind: pareto, correlation: 0.5}\narrivals: {kind: gamma, request_rate: 40, burstiness: 0.5}\n",
    ],
)
@pytest.mark.parametrize("kind", ["stars", "chains"])
def test_a_replayed_run_has_the_same_records(tmp_path: Path, kind: str, blocks: str) -> None:
    outputs = "output_tokens: {kind: uniform, low: 1, high: 9}"
    scenario = load(tmp_path, f"{{kind: {kind}, num_requests: 100, {outputs}}}", blocks)
    export_trace(make_requests(scenario, 0)[0], tmp_path / "t.jsonl")
    again = load(tmp_path, "{kind: jsonl, path: t.jsonl}")
    first = records(scenario)
    assert first["status"].eq("ok").all()
    assert_frame_equal(first, records(again), check_exact=True)

"""The command line on a real SGLang server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from command_line import run_cli
from live_kit import Setting, running

from backends.sglang import Sglang

pytestmark = pytest.mark.live

SMALL = """\
name: small
trials: 2
workload: {workload}
schedule: [dfs-bid, dfs-uniform, bid-sort, no-sort]
batching: {{size: 16}}
dispatch: {{in_flight: 4}}
"""
WORKLOADS = {
    "stars": "{kind: stars, num_requests: 48, output_tokens: 4, cluster_size: 8, prefix_tokens: 90, "
    "question_tokens: [5, 12], singleton_tokens: 95}",
    "chains": "{kind: chains, num_requests: 40, output_tokens: 4, turns: 5, system_tokens: 120, issue_tokens: 20, "
    "turn_tokens: 27}",
    "trees": "{kind: trees, num_requests: 39, output_tokens: 4, arity: 3, depth: 2, root_tokens: 80, step_tokens: 20, "
    "num_trees: 3}",
}


@pytest.fixture(scope="module", params=["0.5.23", "0.5.9"])
def server(request: pytest.FixtureRequest) -> Iterator[Sglang]:
    with running(Setting(version=request.param, overlap=True, reset_phase=False)) as config:
        yield config


def test_doctor(server: Sglang, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "doctor", "--url", server.url, "--json", "--quiet")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["kv_tokens"] == 1024
    assert found["cached_tokens"] == {"first": 0, "second": 63, "reported": True}
    assert [found["order"]["sockets"][key] for key in ("dated", "inversions")] == [48, 0]
    assert found["order"]["list"]["inversions"] == 0
    assert found["priority"] == {"works": False, "direction": None}
    assert found["missing"] == []


@pytest.mark.parametrize("workload", WORKLOADS)
def test_simulate(server: Sglang, workload: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SMALL.format(workload=WORKLOADS[workload]) + "backend: simulated\n", encoding="utf-8")
    live = ("--backend", "sglang", "--url", str(server.url))
    runs = [run_cli(capsys, "simulate", path, "--out", tmp_path, "--json", *more) for more in (live, ())]
    assert [done.code for done in runs] == [0, 0], runs[0].err
    folders = [Path(json.loads(done.out)["run_dir"]) for done in runs]
    real, simulated = (pl.read_parquet(folder / "requests.parquet") for folder in folders)
    assert real.schema == simulated.schema
    assert set(real["status"]) == {"ok"}
    same = ["request_id", "schedule", "trial", "user", "batch", "position", "prompt_tokens", "value", "bid", "payment"]
    assert real.select(same).equals(simulated.select(same))
    assert real["cached_tokens"].sum() > 0
    manifest = json.loads((folders[0] / "manifest.json").read_text(encoding="utf-8"))
    assert all(run["order"]["inversions"] == 0 for run in manifest["server"]["runs"])
    assert (folders[0] / "report.html").is_file()


@pytest.mark.parametrize("in_flight", [4, "null"])
def test_arrivals_over_time_are_taken_in_order(
    server: Sglang, in_flight: int | str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.yaml"
    text = SMALL.format(workload=WORKLOADS["stars"]) + "arrivals: {kind: poisson, request_rate: 200}\n"
    path.write_text(f"{text}backend: {{use: sglang, url: {server.url}}}\n", encoding="utf-8")
    changes = ("--set", "batching.max_wait_s=0.01", "--set", f"dispatch.in_flight={in_flight}")
    done = run_cli(capsys, "simulate", path, "--out", tmp_path, "--json", "--no-report", *changes)
    assert done.code == 0, done.err
    manifest = json.loads((Path(json.loads(done.out)["run_dir"]) / "manifest.json").read_text(encoding="utf-8"))
    assert [run["order"]["inversions"] for run in manifest["server"]["runs"]] == [0] * 8

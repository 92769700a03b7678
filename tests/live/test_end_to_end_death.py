"""A real SGLang server that is killed during a run."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from live_kit import Setting, require

from backends._control import Control
from backends._launch import free_port, server_process
from backends._sglang_server import one_token
from backends.sglang import Sglang
from sim.scenario import load_scenario
from sim.simulate import run

pytestmark = pytest.mark.live

SMALL = """\
name: small
workload: {kind: stars, num_requests: 48, output_tokens: 4, cluster_size: 8, prefix_tokens: 90,
  question_tokens: [5, 12], singleton_tokens: 95}
schedule: [dfs-bid, dfs-uniform, bid-sort]
dispatch: {in_flight: 4}
"""


@pytest.mark.parametrize("version", ["0.5.23", "0.5.9"])
def test_a_server_that_is_killed_leaves_partial_results(version: str, tmp_path: Path) -> None:
    """With all its processes, in the middle of the second schedule."""
    require(version)
    launch, port = Setting(version=version, reset_phase=False).launch(), free_port()
    path = tmp_path / "scenario.yaml"
    backend = f"backend: {{use: sglang, url: 'http://127.0.0.1:{port}', ready_timeout_s: 1.0, retries: 0}}\n"
    path.write_text(SMALL + backend, encoding="utf-8")
    scenario = load_scenario(path, {"sglang": Sglang})
    with server_process(launch.command(port), launch.env) as process:
        control = Control(f"http://127.0.0.1:{port}")
        control.wait_until(lambda: one_token(control, [1]), 300.0, process.check)

        def progress(left: int, _: int, schedule: str, __: int) -> None:
            if schedule == "dfs-uniform" and left == 20:
                os.killpg(process.pid, signal.SIGKILL)

        result = run(scenario, scenario.backend.config, progress=progress)
    assert result.status == "failed"
    assert result.statuses["dfs-bid"] == {"ok": 48}
    assert set(result.statuses["dfs-uniform"]) <= {"ok", "error", "incomplete"}
    assert 20 <= result.statuses["dfs-uniform"]["ok"] < 48
    assert "bid-sort" not in result.statuses
    assert [len(cells) for cells in result.trials.values()] == [1, 0, 0]

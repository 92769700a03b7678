"""SGLang's own scheduler with priorities and preemption, without a model, and ours: the same decisions, every pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from replay_kit import check_reproduced

LIVE = Path(__file__).parent
sys.path.insert(0, str(LIVE))
import build_env  # noqa: E402 (the builder is a script beside the live tests)

VERSION, SCRIPTS = "0.5.23", LIVE / "own_scheduler"
SEEDS = range(1000, 1060)
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not build_env.is_built(VERSION), reason=f"make sglang-cpu VERSION={VERSION} was not run"),
]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(build_env.python(VERSION)), str(SCRIPTS / script), *arguments]
    environment = {**os.environ, **build_env.ENVIRONMENT}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", [VERSION])
def test_without_a_model_it_decides_as_a_whole_server(version: str) -> None:
    recordings = [str(path) for path in sorted((LIVE.parent / "golden" / f"sglang-{version}").glob("*.json.gz"))]
    done = run("alone.py", *recordings)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", [VERSION])
def test_random_servers_with_priorities_are_reproduced(version: str) -> None:
    done = run("record_priorities.py", str(SEEDS.start), str(SEEDS.stop))
    assert done.returncode == 0, done.stderr
    recordings = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["sglang"] for each in recordings] == [version] * len(SEEDS)
    for recording in recordings:
        check_reproduced(recording)
    sent_back = [event for each in recordings for event in each["events"] if event[::2] == ["queue", "retracted"]]
    assert len(sent_back) > 60

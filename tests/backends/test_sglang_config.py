"""The `sglang` block of a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults_kit import SMALL

from backends._control import authorization
from backends.sglang import Sglang
from sim.errors import BackendError, ScenarioError
from sim.scenario import Scenario, load_scenario


def loaded(folder: Path, backend: str, *overrides: str) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(f"{SMALL}backend: {backend}\n", encoding="utf-8")
    return load_scenario(path, {"sglang": Sglang}, overrides=overrides)


def test_an_address_or_a_launch_and_not_both(tmp_path: Path) -> None:
    for backend in ("sglang", "{use: sglang, url: 'http://x', launch: {model_path: m}}"):
        with pytest.raises(ScenarioError, match="--url http://HOST:PORT"):
            loaded(tmp_path, backend)


def test_the_launch_line_carries_what_exactness_needs(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, "{use: sglang, launch: {model_path: m, python: p, args: [--tp-size, '2']}}")
    command = scenario.backend.config.launch.command(7)
    assert command[:3] == ["p", "-m", "sglang.launch_server"]
    assert command[-2:] == ["--tp-size", "2"]
    text = " ".join(command)
    for needed in ("--schedule-policy fcfs", "--skip-tokenizer-init", "--enable-metrics", "--enable-cache-report"):
        assert needed in text
    assert "--host 127.0.0.1 --port 7" in text


def test_a_misspelt_key_of_a_launch_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match='Did you mean "model_path"'):
        loaded(tmp_path, "{use: sglang, launch: {modelpath: m}}")


def test_it_loads_again_as_it_was_resolved(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, "{use: sglang, launch: {model_path: m, args: [--tp-size, '2'], env: {A: b}}}")
    block = scenario.resolved()["backend"]
    assert block["launch"] == {"model_path": "m", "args": ["--tp-size", "2"], "python": "python3", "env": {"A": "b"}}


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_KEY", "secret")
    assert authorization("SERVER_KEY") == {"Authorization": "Bearer secret"}
    assert authorization(None) == {}
    monkeypatch.delenv("SERVER_KEY")
    with pytest.raises(BackendError, match="SERVER_KEY"):
        authorization("SERVER_KEY")

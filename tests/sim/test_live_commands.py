"""`calibrate` and `validate` on the command line, against a small server that answers at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_cli
from fake_server import fake_server, unused_port

SCENARIO = """\
name: small
workload: {kind: stars, num_requests: 12, output_tokens: 2, cluster_size: 4, prefix_tokens: 30,
  question_tokens: [5, 9], singleton_tokens: 40}
schedule: [dfs-bid]
batching: {size: 12}
validation: {ttft_mean_pct: null, ttft_p90_pct: null}
backend: simulated
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_validate_passes_and_writes_its_page(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "fidelity.html"
    with fake_server() as server:
        done = run_cli(
            capsys, "validate", scenario, "--url", server.url, "--profile", "h100-qwen3-8b", "--out", page, "--json"
        )
    found = json.loads(done.out)
    assert done.code == 0, done.err
    assert found["passed"]
    assert found["runs"] == 2
    compared = found["schedules"]["dfs-bid"]["simulated_against_live"]
    assert (compared["num_cached_equal"], compared["num_cached_known"]) == (24, 24)
    assert found["page"] == str(page)
    assert page.is_file()


def test_validate_fails_with_five_and_says_what(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_server() as server:
        done = run_cli(
            capsys, "validate", scenario, "--url", server.url, "--profile", "h100-qwen3-8b", "--runs", 1,
            "--set", "validation.ttft_mean_pct=0.0001", "--out", tmp_path / "fidelity.html",
        )  # fmt: skip
    assert done.code == 5
    assert "not within its threshold: dfs-bid ttft_mean_pct" in done.err
    assert "FAIL" in done.out
    assert "100.0 %" in done.out


def test_calibrate_writes_a_profile_and_says_how_to_use_it(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "profile.json"
    with fake_server(info={"max_total_num_tokens": 1200, "max_running_requests": 8}) as server:
        done = run_cli(capsys, "calibrate", scenario, "--url", server.url, "--budget-s", 60, "--out", out)
    assert done.code == 0, done.err
    profile = json.loads(out.read_text(encoding="utf-8"))
    assert profile["kv_tokens"] == 1200
    assert profile["server"]["max_running_requests"] == 8
    assert profile["provenance"]["method"] == "measured on a live server by calibrate"
    assert "decode_overhead_ms" in profile["unidentified"]
    assert "backend: {use: simulated, profile: " in done.out
    assert out.with_suffix(".html").is_file()
    used = run_cli(capsys, "check", scenario, "--set", f"backend.profile={out}")
    assert used.code == 0, used.err


@pytest.mark.parametrize("command", [("calibrate",), ("validate", "--profile", "h100-qwen3-8b")])
def test_without_a_server_it_is_exit_three(
    scenario: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    done = run_cli(capsys, *command, scenario, "--url", url, "--set", "backend.ready_timeout_s=0.1")
    assert done.code == 3
    assert url in done.err


@pytest.mark.parametrize("command", [("calibrate",), ("validate", "--profile", "h100-qwen3-8b")])
def test_without_an_address_it_is_exit_two(
    scenario: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = run_cli(capsys, *command, scenario)
    assert done.code == 2
    assert "--url" in done.err


def test_an_unknown_profile_is_exit_two(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "validate", scenario, "--url", "http://127.0.0.1:9", "--profile", "h100-qwen3-8bb")
    assert done.code == 2
    assert 'Did you mean "h100-qwen3-8b"?' in done.err

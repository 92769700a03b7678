"""Calibrating a server whose coefficients are known, because it is simulated; and servers that cannot be calibrated."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from calibration_kit import FACTS, PassesForLive

from backends._calibrated import backend_block, calibrated, simulated_from
from backends._profile import load_profile
from backends.simulated import Simulated
from sim.calibration import Calibration, CalibrationSettings, calibrate
from sim.errors import BackendError, NothingServedError
from sim.latency import LatencyModel

KNOWN = "h200-qwen3-32b"
SERVER = Simulated(profile=KNOWN, kv_tokens=60_000, chunked_prefill_tokens=4096, max_running_requests=48)


def of(server: PassesForLive, **settings: Any) -> Calibration:
    return calibrate(server, calibrated, CalibrationSettings(**{"rounds": 2, **settings}))


@pytest.fixture(scope="module")
def noisy() -> dict[str, Any]:
    found = of(PassesForLive(SERVER, noise=0.02), rounds=3)
    assert found.warnings == []
    return found.profile


def test_known_coefficients_lie_in_their_intervals(noisy: dict[str, Any]) -> None:
    truth = load_profile(KNOWN).latency
    expected = {f.name: getattr(truth, f.name) for f in fields(LatencyModel)}
    expected["decode_base_ms"] += expected["decode_overhead_ms"]
    outside = {
        name: (expected[name], bounds)
        for name, bounds in noisy["intervals"].items()
        if not bounds[0] - 1e-9 <= expected[name] <= bounds[1] * (1 + 1e-6)
    }
    assert len(outside) <= 1, outside  # of 90 % intervals


def test_held_out_points_are_predicted_to_the_noise(noisy: dict[str, Any]) -> None:
    errors = noisy["held_out_error_percent"]
    assert errors["prefill"]["n"] >= 3
    assert errors["prefill"]["mean"] < 4
    assert errors["decode"]["mean"] < 0.5  # decoding was not disturbed
    assert errors["mixed"]["mean"] < 4
    assert noisy["repeat_spread_percent"]["prefill"] < 5
    held = [row for row in noisy["measurements"] if row["held_out"] and row["kind"] == "prefill"]
    assert len(held) == errors["prefill"]["n"]


def test_the_server_is_copied_into_the_profile(noisy: dict[str, Any]) -> None:
    assert noisy["kv_tokens"] == 60_000
    assert noisy["server"]["chunked_prefill_tokens"] == 4096
    assert noisy["provenance"]["status"] == "complete"
    block = backend_block(noisy, "p.json")
    assert block["engine"] == "0.5.23"
    assert block["max_running_requests"] == FACTS["max_running_requests"]


def test_the_profile_is_one_that_simulate_takes(noisy: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(noisy), encoding="utf-8")
    simulated = simulated_from(path)
    assert simulated.limits().kv_tokens == 60_000
    assert simulated.chunked_prefill_tokens == 4096
    assert simulated.overlap


def test_pages_are_kept() -> None:
    server = Simulated(profile=KNOWN, kv_tokens=8192, chunked_prefill_tokens=1024, page_tokens=16)
    found = of(PassesForLive(server, facts={**FACTS, "page_tokens": 16, "chunked_prefill_tokens": 1024}), rounds=1)
    rows = [row for row in found.profile["measurements"] if row["kind"] == "prefill"]
    assert any(row["cached_tokens"] for row in rows)
    assert all(row["cached_tokens"] % 16 == 0 for row in rows)
    assert max(abs(row["fitted_ms"] / row["measured_ms"] - 1) for row in rows) < 0.01


def test_an_interrupt_keeps_what_was_measured() -> None:
    found = of(PassesForLive(SERVER, interrupt_after=90))
    assert found.interrupted
    assert found.profile["provenance"]["status"] == "interrupted"
    assert found.profile["held_out_error_percent"]["mixed"] is None


def test_the_budget_ends_it() -> None:
    found = of(PassesForLive(SERVER), budget_s=60.0, rounds=4)
    assert found.profile["provenance"]["measured_s"] < 66
    assert any("budget of 60 s ended in round" in warning for warning in found.warnings)


def test_too_little_is_not_fitted() -> None:
    with pytest.raises(NothingServedError, match="cannot be fitted"):
        of(PassesForLive(SERVER, interrupt_after=4))


def test_a_server_that_fails_everything_is_no_profile() -> None:
    with pytest.raises(NothingServedError, match=r"No measurement succeeded.*error: broken"):
        of(PassesForLive(SERVER, fails=True))


def test_a_server_that_is_silent_about_its_cache_is_refused() -> None:
    with pytest.raises(BackendError, match="--enable-cache-report"):
        of(PassesForLive(SERVER, silent=True))


def test_a_server_without_room_is_refused() -> None:
    with pytest.raises(BackendError, match="room for prompts of"):
        of(PassesForLive(Simulated(profile=KNOWN, kv_tokens=80)))

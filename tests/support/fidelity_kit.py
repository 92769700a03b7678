"""A profile and a validation of a server that is itself simulated: something for pages to show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration_kit import PassesForLive

from backends._calibrated import calibrated
from backends._profile import load_profile
from backends.simulated import Simulated
from sim.calibration import CalibrationSettings, calibrate
from sim.scenario import load_scenario
from sim.validation import Validation, validate

PROFILE = load_profile("h200-qwen3-32b").card
SERVER = Simulated(profile="h200-qwen3-32b", kv_tokens=2000, chunked_prefill_tokens=4096)
SCENARIO = """\
name: small
workload: {kind: stars, num_requests: 40, output_tokens: 3, cluster_size: 5, prefix_tokens: 300,
  question_tokens: [5, 40], singleton_tokens: 320}
schedule: [dfs-bid, no-sort]
batching: {size: 20}
dispatch: {in_flight: 1}
backend: simulated
"""


def profile_of(noise: float = 0.03, rounds: int = 2) -> dict[str, Any]:
    """A profile with everything a page can show."""
    server = replace(SERVER, kv_tokens=30_000)
    return calibrate(PassesForLive(server, noise=noise), calibrated, CalibrationSettings(rounds=rounds)).profile


def validated(
    folder: Path, live: PassesForLive, /, *overrides: str, runs: int = 2, text: str = SCENARIO, **changes: Any
) -> Validation:
    """`live` against its own latencies, or `changes` of the profile that holds them."""
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    scenario = load_scenario(path, {"simulated": Simulated}, overrides=overrides)
    scenario = replace(scenario, backend=replace(scenario.backend, config=live))
    return validate(scenario, calibrated, {**PROFILE, **changes}, runs)

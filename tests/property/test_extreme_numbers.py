"""Whatever number stands under a numeric key of a scenario: it runs, serves nobody, or is refused in words; it never
ends in a traceback."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.simulated import Simulated
from sim.errors import ScenarioError
from sim.run_folder import strict_json
from sim.scenario import load_scenario
from sim.simulate import run
from sim.workloads import _sharing, trees

#: Everything that takes a number, spread over a few scenarios that run in a moment.
SCENARIOS = [
    """
workload: {kind: stars, num_requests: 6, output_tokens: {kind: lognormal, median: 3.0, sigma: 0.5, max_tokens: 9},
  sharing: 0.5, cluster_size: 2, prefix_tokens: 9, question_tokens: [3, 5], singleton_tokens: 8}
users: {kind: random, count: 3}
values: {kind: pareto, shape: 1.5, offset: 1.0, correlation: 0.2}
arrivals: {kind: gamma, request_rate: 5.0, burstiness: 1.0}
batching: {size: 4, max_wait_s: 0.5}
dispatch: {in_flight: 2}
schedule: [dfs-bid, {use: k-lpm, k: 2}, {use: tiers, tiers: 2, prices: [1.0]}]
slo: {ttft_ms: 100.0, tpot_ms: 10.0, e2el_ms: 900.0}
validation: {ttft_mean_pct: 5.0, hit_rate_pp: 1.0}
backend: {use: simulated, kv_tokens: 200, page_tokens: 1, chunked_prefill_tokens: 64, max_prefill_tokens: 64,
  max_running_requests: 4, schedule_conservativeness: 0.5, context_tokens: 99}
seed: 1
trials: 2
warmup_s: 0.1
cooldown_s: 0.1
""",
    """
workload: {kind: chains, num_requests: 6, output_tokens: {kind: uniform, low: 1, high: 3}, turns: 2,
  turns_spread: 0.5, system_tokens: 5, issue_tokens: 4, turn_tokens: 3}
values: {kind: lognormal, median: 2.0, sigma: 1.0, only_cluster: 0}
arrivals: {kind: closed-loop, concurrency: 2, think_time_s: 0.5}
bidding: {use: pacing, budget: 10.0, step: 0.1, horizon: 3, max_mu: 9.0}
schedule: dfs-bid
backend: simulated
""",
    """
workload: {kind: trees, num_requests: 6, output_tokens: 2, arity: 2, depth: 2, root_tokens: 4, step_tokens: 3,
  num_trees: 2}
values: {kind: uniform, low: 0.5, high: 2.0}
arrivals: {kind: poisson, request_rate: 5.0}
bidding: [{use: shading, factor: 0.5, share: 0.5}, {use: pacing, budget: {kind: lognormal, median: 2.0, sigma: 1.0}}]
schedule: bid-sort
backend: simulated
""",
    """
workload: {kind: chains, num_requests: 4}
values: {kind: constant, value: 1.0}
arrivals: {kind: sessions, think_time_s: 0.5}
bidding: {use: pacing, budget: {kind: truthful-fraction, fraction: 0.5}}
schedule: dfs-bid
backend: simulated
""",
]
EXTREMES: list[float] = [
    0, 1, 2, -1, 10**6, 2**31 - 1, 2**31, 10**14, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, -(2**70), 0.0, 5e-324, 1e-300,
    1e-16, 1e-9, 1e-3, 0.5, 1.0, 10.0, 1e8, 1e9, 1e12, 1e15, 9.3e9, 1e16, 1e100, 1e300, 1.7e308, -1e300,
]  # fmt: skip
BACKENDS = {"simulated": Simulated}


def numeric_keys(data: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The dotted keys of all numbers."""
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numeric_keys(item, (*path, str(key)))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield ".".join(path)


def file_keys() -> list[tuple[int, str]]:
    from sim.yaml_source import parse_value

    return [(k, key) for k, text in enumerate(SCENARIOS) for key in numeric_keys(parse_value(text, "here"))]


@pytest.fixture(autouse=True)
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on tokens, made small enough to be reached in no time."""
    monkeypatch.setattr(_sharing, "_MAX_TOKENS", 100_000)
    monkeypatch.setattr(trees, "_MAX_NODES", 10_000)


def outcome(number: int, key: str, value: float) -> str:
    """What becomes of a scenario with `value` under `key`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "extreme.yaml")
        path.write_text(SCENARIOS[number], encoding="utf-8")
        try:
            scenario = load_scenario(path, BACKENDS, overrides=[f"{key}={value!r}"])
        except ScenarioError as error:
            return _named(error, f"--set {key}", f": {key.partition('.')[0]}")
        heavy = scenario.trials > 9 or getattr(scenario.workload, "num_requests", 0) > 999
        if heavy or getattr(scenario.users, "count", 0) > 999:
            return "checked"  # it would run, for as long as so many take
        try:
            result = run(scenario, scenario.backend.config)
        except ScenarioError as error:
            return _named(error, "")
        strict_json(result.summary)
        return "ran"


def _named(error: ScenarioError, *places: str) -> str:
    assert any(place in str(error) for place in places)
    return "refused"


@pytest.mark.slow
@pytest.mark.parametrize("value", EXTREMES)
def test_an_extreme_number_under_any_key_runs_or_is_refused_in_words(value: float) -> None:
    for number, key in file_keys():
        outcome(number, key, value)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    where=st.sampled_from(file_keys()),
    value=st.sampled_from(EXTREMES) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**80), 2**80),
)
def test_any_number_under_any_key_runs_or_is_refused_in_words(where: tuple[int, str], value: float) -> None:
    outcome(*where, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("batching.max_wait_s", "1e300"),
        ("workload.num_requests", "100000000000000"),
        ("dispatch.in_flight", str(2**63)),
        ("values.shape", "1e-300"),
        ("arrivals.request_rate", "1e-300"),
        ("seed", str(2**63)),
        ("schedule.k-lpm.k", str(2**63)),
    ],
)
def test_absurd_sizes_are_refused_by_check(key: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "absurd.yaml"
    path.write_text(SCENARIOS[0], encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, BACKENDS, overrides=[f"{key}={value}"])
    assert caught.value.where.startswith("--set")
    assert "most" in caught.value.expected or "than or equal" in caught.value.expected


def test_an_error_survives_being_made_anew_from_its_arguments() -> None:
    """SimPy does so with what a process raises, and pickle with what comes back from a worker."""
    error = ScenarioError("a.yaml:1: x", "1", "2", "Write 2.")
    again = type(error)(*error.args)
    assert str(again) == str(error) == "a.yaml:1: x: found 1; expected 2. Write 2."
    assert again.where == "a.yaml:1: x"


def test_waits_that_add_up_to_centuries_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text(SCENARIOS[1], encoding="utf-8")
    waits = ["arrivals.think_time_s=1e8", "arrivals.concurrency=1", "workload.num_requests=60"]
    scenario = load_scenario(path, BACKENDS, overrides=waits)
    with pytest.raises(ScenarioError, match=r"the simulated clock: .* a run of less than 146 years"):
        run(scenario, scenario.backend.config)


def test_values_that_overflow_are_refused_by_request(tmp_path: Path) -> None:
    path = tmp_path / "tail.yaml"
    path.write_text(SCENARIOS[0], encoding="utf-8")
    scenario = load_scenario(path, BACKENDS, overrides=["values.shape=0.001"])
    with pytest.raises(ScenarioError, match=r'values: found .* for request ".*"; expected values and bids of at most'):
        run(scenario, scenario.backend.config)
    assert np.isfinite(scenario.values.offset)  # type: ignore[union-attr]

"""Validating a server that is itself simulated: equal where it must be, and failing where it is made to differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calibration_kit import FACTS, PassesForLive
from fidelity_kit import PROFILE, SERVER, validated

from sim.errors import NothingServedError
from sim.validation import Verdict


def test_the_same_server_agrees_exactly(tmp_path: Path) -> None:
    result = validated(tmp_path, PassesForLive(SERVER))
    assert result.passed
    assert result.warnings == []
    for each in result.schedules:
        assert each.ours.ttft_mape_pct == pytest.approx(0.0)
        assert each.ours.order_tau == pytest.approx(1.0)
        assert each.ours.num_cached_equal == each.ours.num_cached_known == 80
        assert each.own is not None
        assert each.evicting
    json.dumps(result.to_json(), allow_nan=False)


def test_a_server_of_another_speed_fails_on_ttft_alone(tmp_path: Path) -> None:
    slow = {**PROFILE, "latency": {**PROFILE["latency"], "weights_ms": 2 * PROFILE["latency"]["weights_ms"]}}
    result = validated(tmp_path, PassesForLive(SERVER), latency=slow["latency"])
    assert not result.passed
    failed = {v.measure for each in result.schedules for v in each.verdicts if not v.passed}
    assert failed == {"ttft_mean_pct", "ttft_p90_pct"}


def test_answers_of_one_pass_are_of_one_pass_also_where_clients_read_them_one_by_one(tmp_path: Path) -> None:
    gap = {**PROFILE["latency"], "request_gap_ms": 1.0}
    result = validated(tmp_path, PassesForLive(SERVER), "dispatch.in_flight=null", latency=gap)
    for rows in result.simulated:
        of_schedule = rows.filter((rows["schedule"] == "dfs-bid") & (rows["trial"] == 0))
        assert of_schedule["first_token_s"].n_unique() == len(of_schedule)
        assert 1 < of_schedule["pass"].n_unique() < len(of_schedule) / 2


def test_thresholds_come_from_the_scenario(tmp_path: Path) -> None:
    slow = {**PROFILE["latency"], "weights_ms": 2 * PROFILE["latency"]["weights_ms"]}
    lenient = ("validation.ttft_mean_pct=null", "validation.ttft_p90_pct=1000.0")
    assert validated(tmp_path, PassesForLive(SERVER), *lenient, latency=slow).passed


def test_a_noisy_server_is_not_claimed_to_be_known_better_than_it_knows_itself(tmp_path: Path) -> None:
    result = validated(tmp_path, PassesForLive(SERVER, noise=0.2), "dispatch.in_flight=4")
    for each in result.schedules:
        for verdict in each.verdicts:
            assert verdict.spread is not None
            worse = min if verdict.measure == "order_tau" else max
            assert verdict.claimed == worse(verdict.error or 0.0, verdict.spread)


def test_one_run_has_no_spread(tmp_path: Path) -> None:
    result = validated(tmp_path, PassesForLive(SERVER), runs=1)
    assert all(each.own is None for each in result.schedules)
    assert all(v.spread is None for each in result.schedules for v in each.verdicts)
    assert result.passed


def test_a_silent_server_does_not_pass_on_hit_rate(tmp_path: Path) -> None:
    result = validated(tmp_path, PassesForLive(SERVER, silent=True), runs=1)
    failed = {v.measure for each in result.schedules for v in each.verdicts if not v.passed}
    assert failed == {"hit_rate_pp"}


def test_settings_are_the_servers_and_differences_are_said(tmp_path: Path) -> None:
    then = {"server": {**FACTS, "page_tokens": 16}, "kv_tokens": 2000}
    result = validated(tmp_path, PassesForLive(SERVER), runs=1, **then)
    assert result.warnings == ["The profile was measured at page_tokens = 16; the server has 1, which is simulated."]
    assert result.passed


def test_nothing_served_is_no_validation(tmp_path: Path) -> None:
    with pytest.raises(NothingServedError, match="served nothing"):
        validated(tmp_path, PassesForLive(SERVER, fails=True))


@pytest.mark.parametrize(
    ("measure", "error", "spread", "threshold", "passed", "wanders"),
    [
        ("welfare_pct", 1.0, 0.5, 2.0, True, False),
        ("welfare_pct", 1.0, 3.0, 2.0, False, True),  # the server itself differs by more: nothing can be claimed
        ("welfare_pct", 3.0, 0.0, 2.0, False, False),
        ("welfare_pct", 3.0, None, 2.0, False, False),
        ("welfare_pct", None, 0.0, 2.0, False, False),
        ("welfare_pct", 9.0, 0.0, None, True, False),
        ("order_tau", 0.96, 0.99, 0.95, True, False),
        ("order_tau", 0.99, 0.90, 0.95, False, True),
    ],
)
def test_verdicts(
    measure: str, error: float | None, spread: float | None, threshold: float | None, passed: bool, wanders: bool
) -> None:
    verdict = Verdict(measure=measure, error=error, spread=spread, threshold=threshold)
    assert (verdict.passed, verdict.server_wanders) == (passed, wanders)

"""Sessions as closed loops: who waits for whom, and the market's clock with times worked out by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from market_kit import FixedServer, run_market, table
from scenario_kit import load

from mechanism.prompts import Prompts
from sim.backend import Limits
from sim.errors import ScenarioError
from sim.population import make_requests
from sim.session_turns import previous_turns

CHAINS = """
name: talk
workload: {kind: chains, num_requests: 20, turns: 4, turns_spread: 0, system_tokens: 5}
arrivals: {kind: sessions, think_time_s: 2}
schedule: [no-sort]
backend: {use: simulated}
"""


def test_turns_need_not_stand_in_order_in_the_file() -> None:
    assert previous_turns(["a", "b", "a", "a"], np.array([2, 0, 0, 7])).tolist() == [2, -1, -1, 0]


def test_equal_turn_numbers_follow_file_order() -> None:
    assert previous_turns(["a", "a", "a"], np.array([0, 0, 0])).tolist() == [-1, 0, 1]


def test_a_turn_arrives_when_its_user_has_thought_about_the_answer() -> None:
    # Service takes 10 ns, one at a time. a0 is answered at 10 and b0 at 20; a1 comes at 15, b1 at 120.
    requests = replace(
        table([0, 0, 0, 0], [1.0] * 4), follows=np.array([-1, -1, 0, 1]), think_ns=np.array([0, 0, 5, 100])
    )
    log = run_market(requests, FixedServer(10), size=1)
    assert log.arrival_ns == [0, 0, 15, 120]
    assert log.finish_ns == [10, 20, 30, 130]


def test_first_turns_keep_their_recorded_times() -> None:
    requests = replace(table([3, 7, 50], [1.0] * 3), follows=np.array([-1, 0, -1]), think_ns=np.array([0, 4, 0]))
    log = run_market(requests, FixedServer(10), size=1)
    assert log.arrival_ns == [3, 17, 50]


def test_a_session_goes_on_after_a_turn_that_is_rejected() -> None:
    prompts = Prompts.from_lists([[1] * 40, [2]])
    requests = replace(table([0, 0], [1.0, 1.0], prompts=prompts), follows=np.array([-1, 0]), think_ns=np.array([0, 6]))
    log = run_market(requests, FixedServer(10, Limits(kv_tokens=20)), size=1)
    assert log.status == ["rejected", "ok"]
    assert log.arrival_ns == [0, 6]


def test_what_the_workload_refuses_is_rejected_with_its_reason() -> None:
    prompts = Prompts.from_lists([[1] * 4, [2]])
    requests = replace(table([0, 0], [1.0, 1.0], prompts=prompts), refused=np.array([True, False]))
    log = run_market(requests, FixedServer(10))
    assert log.status == ["rejected", "ok"]
    assert log.error[0] == "the prompt of 4 tokens is longer than the workload's max_prompt_tokens"


def test_a_scenario_links_the_turns_of_its_chains(tmp_path: Path) -> None:
    requests, _ = make_requests(load(tmp_path, CHAINS), 0)
    assert requests.follows is not None
    assert requests.think_ns is not None
    assert set(requests.think_ns.tolist()) == {2_000_000_000}
    assert requests.session is not None
    assert requests.turn is not None
    for i, before in enumerate(requests.follows.tolist()):
        if before < 0:
            assert requests.turn[i] == 0
        else:
            assert requests.session[before] == requests.session[i]
            assert requests.turn[before] == requests.turn[i] - 1


def test_pauses_that_nobody_recorded_must_be_given(tmp_path: Path) -> None:
    scenario = load(tmp_path, CHAINS, "arrivals.think_time_s=null")
    with pytest.raises(ScenarioError, match="records no pauses"):
        make_requests(scenario, 0)


def test_sessions_need_a_workload_that_has_some(tmp_path: Path) -> None:
    scenario = load(tmp_path, CHAINS, "workload={kind: stars, num_requests: 4}")
    with pytest.raises(ScenarioError, match="a workload with sessions"):
        make_requests(scenario, 0)


@pytest.mark.parametrize(("per", "key"), [("cluster", "cluster"), ("user", "user")])
def test_a_cluster_or_a_user_can_have_one_value(tmp_path: Path, per: str, key: str) -> None:
    users, values = "users={kind: random, count: 3}", f"values={{kind: uniform, per: {per}}}"
    requests, _ = make_requests(load(tmp_path, CHAINS, users, values), 0)
    pairs = set(zip(getattr(requests, key).tolist(), requests.value.tolist(), strict=True))
    assert len(pairs) == len(set(getattr(requests, key).tolist())) == len(set(requests.value.tolist()))


def test_one_value_each_and_a_correlation_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"values\.correlation"):
        load(tmp_path, CHAINS, "values={kind: pareto, per: user, correlation: 0.5}")

"""The `bidding:` block: one agent, a mix, one for each schedule; what is refused and why."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML
from scenario_kit import SMALL, load, refusal

from mechanism.bidding._budgets import LognormalBudget, TruthfulFraction
from mechanism.bidding.pacing import Pacing
from mechanism.bidding.shading import Shading
from mechanism.bidding.truthful import Truthful
from sim.scenario import Scenario, load_scenario


def agents(scenario: Scenario) -> dict[str, list[tuple[str, float]]]:
    return {s.label: [(each.use, each.share) for each in s.bidding] for s in scenario.schedules}


def test_one_agent_for_all(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL + "bidding: {use: pacing, budget: 10.0, step: 0.1}\n")
    assert agents(scenario) == {"dfs-bid": [("pacing", 1.0)], "no-sort": [("pacing", 1.0)]}
    assert scenario.schedules[0].bidding[0].agent == Pacing(budget=10.0, step=0.1)


def test_budgets_are_numbers_fractions_and_distributions(tmp_path: Path) -> None:
    def budget(text: str) -> object:
        agent = load(tmp_path, SMALL + f"bidding: {{use: pacing, budget: {text}}}\n").schedules[0].bidding[0].agent
        assert isinstance(agent, Pacing)
        return agent.budget

    assert budget("3") == 3.0
    assert budget("{kind: truthful-fraction, fraction: 0.5}") == TruthfulFraction(
        kind="truthful-fraction", fraction=0.5
    )
    spread = TruthfulFraction(kind="truthful-fraction", fraction=(0.1, 1.0))
    assert budget("{kind: truthful-fraction, fraction: [0.1, 1.0]}") == spread
    assert budget("{kind: lognormal, median: 4.0, sigma: 0.5}") == LognormalBudget(
        kind="lognormal", median=4.0, sigma=0.5
    )


def test_a_mix_of_agents(tmp_path: Path) -> None:
    text = SMALL + "bidding: [{use: pacing, budget: 1.0, share: 0.5}, truthful, {use: shading, factor: 0.5}]\n"
    expected = [("pacing", 0.5), ("truthful", 0.25), ("shading", 0.25)]
    assert agents(load(tmp_path, text)) == {"dfs-bid": expected, "no-sort": expected}


def test_one_for_each_schedule(tmp_path: Path) -> None:
    text = SMALL.replace("[dfs-bid, no-sort]", "[{use: dfs-bid, label: paced}, dfs-bid, no-sort]")
    scenario = load(tmp_path, text + "bidding: {paced: {use: shading, factor: 0.5}, no-sort: truthful}\n")
    assert [each.bidding[0].agent for each in scenario.schedules] == [Shading(factor=0.5), Truthful(), Truthful()]


@pytest.mark.parametrize(
    "bidding",
    [
        "truthful",
        "{use: pacing, budget: {kind: truthful-fraction, fraction: [0.1, 1.0]}}",
        "[{use: shading, factor: 0.5, share: 0.25}, truthful]",
        "{dfs-bid: [{use: shading, factor: 0.5, share: 0.25}, truthful]}",
    ],
)
def test_a_resolved_scenario_bids_the_same(tmp_path: Path, bidding: str) -> None:
    scenario = load(tmp_path, SMALL + f"bidding: {bidding}\n")
    path = tmp_path / "resolved.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML().dump(scenario.resolved(), file)
    again = load_scenario(path, {"simulated": type(scenario.backend.config)})
    assert [each.bidding for each in again.schedules] == [each.bidding for each in scenario.schedules]
    assert again.config_hash == scenario.config_hash


@pytest.mark.parametrize(
    ("bidding", "message"),
    [
        ("[]", "an empty list"),
        ("{dfs-bit: truthful}", 'Did you mean "dfs-bid"?'),
        ("{use: pacing}", 'the key "budget"'),
        ("{use: pacing, budget: -1}", "a budget of at least 0"),
        ("{use: pacing, budget: .nan}", "bidding.budget"),
        ("{use: pacing, budget: {kind: uniform, low: 2.0, high: 1.0}}", "0 ≤ low ≤ high"),
        ("{use: pacing, budget: {kind: uniform, low: 2.0, hi: 1.0}}", "hi"),
        ("{use: shading, factor: -0.5}", "a factor of at least 0"),
        ("[{use: truthful, share: 0}]", "a share of the users, above 0 and up to 1"),
        ("[{use: truthful, share: true}]", "a share of the users, above 0 and up to 1"),
        (
            "[{use: truthful, share: 0.5}, {use: from-trace, share: 0.4}]",
            "shares that sum to 0.9; expected shares that",
        ),
        ("[{use: truthful, share: 1.0}, from-trace]", "shares that leave users"),
        ("{use: truthful, share: 0.5}", "share"),
    ],
)
def test_what_cannot_be_bid_is_refused(tmp_path: Path, bidding: str, message: str) -> None:
    error = refusal(tmp_path, SMALL + f"bidding: {bidding}\n")
    assert "scenario.yaml:5" in error.where
    assert message in str(error)


@pytest.mark.parametrize("bidding", ["from-trace", "[truthful, from-trace]", "{no-sort: from-trace}"])
def test_bids_that_nobody_recorded_cannot_be_said(tmp_path: Path, bidding: str) -> None:
    error = refusal(tmp_path, SMALL + f"bidding: {bidding}\n")
    assert "found from-trace; expected another agent: the workload records no bids" in str(error)
    assert "columns.bid" in error.suggestion


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("1e308", "a number of at most 1e+15"),
        ("{kind: lognormal, median: 1, sigma: 500}", "a sigma from 0 to 10"),
        ("{kind: uniform, low: 0, high: 1e300}", "a number of at most 1e+15"),
        ("{kind: truthful-fraction, fraction: [1.0, 0.1]}", "fractions 0 ≤ low ≤ high, not [1.0, 0.1]"),
    ],
)
def test_budgets_beyond_reason_are_refused_before_anything_runs(tmp_path: Path, budget: str, expected: str) -> None:
    said = str(refusal(tmp_path, SMALL, f"bidding={{use: pacing, budget: {budget}}}"))
    assert "bidding.budget" in said
    assert expected in said
    assert "Value error" not in said

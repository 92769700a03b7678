"""Every scenario in `scenarios/` loads, generates, and is the experiment that it says it is."""

from pathlib import Path

import numpy as np
import pytest

from backends.simulated import Simulated
from sim.population import make_requests
from sim.requests import RequestTable
from sim.scenario import Scenario, load_scenario

SHIPPED = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))
EXAMPLES = Path(__file__).resolve().parents[1] / "contract" / "workload_examples"
SYNTHETIC = {"mixshare-50", "mixshare-sweep", "chains", "short-tree", "long-tree", "one-cluster"}


def load(name: str) -> Scenario:
    overrides = [f"workload.path={EXAMPLES / 'mooncake.jsonl'}"] if name == "mooncake" else []
    return load_scenario(name, {"simulated": Simulated}, overrides)


def requests(name: str) -> RequestTable:
    return make_requests(load(name), 0)[0]


def test_the_set_is_complete() -> None:
    assert SYNTHETIC | {"mooncake"} <= set(SHIPPED)


@pytest.mark.parametrize("name", sorted(SYNTHETIC))
def test_the_papers_are_saturated_with_1024_requests_served_serially(name: str) -> None:
    scenario = load(name)
    assert scenario.saturated
    assert scenario.dispatch.in_flight == 1
    assert [entry.label for entry in scenario.schedules] == ["dfs-bid", "dfs-uniform", "bid-sort", "no-sort"]
    assert [entry.payment for entry in scenario.schedules] == ["vcg", "free", "vcg", "free"]
    limits = scenario.backend.config.limits()
    assert limits.kv_tokens == 23_000
    table = requests(name)
    assert len(table) == 1024
    assert not limits.refused(table.prompt_tokens, table.output_tokens).any()


def test_prompts_are_as_long_as_the_papers() -> None:
    means = {name: requests(name).prompt_tokens.mean() for name in SYNTHETIC}
    assert means["mixshare-50"] == pytest.approx(952, abs=3)
    assert means["chains"] == pytest.approx(3000, abs=150)
    assert means["short-tree"] == pytest.approx(160, abs=15)
    assert means["long-tree"] == pytest.approx(4200, abs=250)


def test_short_trees_fit_the_cache_and_long_ones_do_not() -> None:
    def distinct_tokens(name: str) -> int:
        prompts = requests(name).prompts
        return len(np.unique(prompts.symbols))

    assert distinct_tokens("short-tree") < 23_000
    assert distinct_tokens("long-tree") > 4 * 23_000


def test_one_cluster_bids() -> None:
    table = requests("one-cluster")
    assert set(table.cluster[table.value > 0].tolist()) == {0}
    assert (table.value > 0).sum() == 16


def test_mooncake_is_replayed_by_its_clock() -> None:
    scenario = load("mooncake")
    table, demand = make_requests(scenario, 0)
    assert not scenario.saturated
    assert table.arrival_ns.tolist() == [0, 0, 9_000_000_000]
    assert demand.dropped == {"zero output": 1}

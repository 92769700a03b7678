from pathlib import Path

import pytest
from scenario_kit import SMALL, PaperServer, load, refusal

from sim.arrivals import Gamma, Poisson, Saturated
from sim.values import Lognormal, Pareto
from sim.workloads._outputs import UniformTokens
from sim.workloads.chains import Chains
from sim.workloads.trees import Trees


def test_overrides_replace_add_and_apply_in_order(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL, "seed=1", "batching.size=8", "seed=2", "workload={kind: chains, turns: 4}")
    assert scenario.seed == 2
    assert scenario.batching.size == 8
    assert scenario.workload == Chains(turns=4)


def test_an_override_reaches_into_a_bare_name(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL.replace("{use: simulated}", "simulated"), "backend.kv_tokens=null")
    assert scenario.backend.config == PaperServer(kv_tokens=None)
    error = refusal(tmp_path, SMALL + "bidding: truthful\n", "bidding.budget=10")
    assert error.where == "--set bidding.budget"
    assert error.found == 'the unknown key "budget"'


def test_another_backend_replaces_the_block_and_overrides_come_after(tmp_path: Path) -> None:
    text = SMALL.replace("{use: simulated}", "{use: simulated, kv_tokens: 5, page_tokens: 16}")
    scenario = load(tmp_path, text, "backend.kv_tokens=7", backend="simulated")
    assert scenario.backend.config == PaperServer(kv_tokens=7, page_tokens=1)


def test_options_beat_the_file_and_overrides(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL, "seed=1", seed=5, trials=6)
    assert (scenario.seed, scenario.trials) == (5, 6)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("backend.kv_tokens=true", "--set backend.kv_tokens: found true; expected a valid integer"),
        ("backend.kv_token=3", '--set backend.kv_token: found the unknown key "kv_token"; expected a known'),
        ("batchng.size=3", '--set batchng.size: found the unknown key "batchng"; expected a known key. Did'),
        (
            "arrivals.request_rate=2",
            '--set arrivals.request_rate: found the unknown key "request_rate"; expected no key at all. arrivals.kind: '
            "poisson and gamma take it.",
        ),
        (
            "values.sigma=2",
            '--set values.sigma: found the unknown key "sigma"; expected a known key. values.kind: lognormal takes it.',
        ),
        (
            "values.sape=2",
            '--set values.sape: found the unknown key "sape"; expected a known key. Did you mean "shape"?',
        ),
        ("users.x=2", '--set users.x: found the unknown key "x"; expected no key at all.'),
        ("values={kind: pareto, shape: .nan}", "--set values: values.shape: found NaN; expected "),
        ("workload.kind=star", '--set workload.kind: found "star"; expected a name in sim.workloads. Did you mean "st'),
        ("workload={kind: stars, sharng: 1}", '--set workload: workload.sharng: found the unknown key "sharng"'),
        ("workload.prefix_tokens={a: 1}", '--set workload.prefix_tokens: found {"a": 1}; expected a valid integer'),
        ("seed", '--set seed: found "seed"; expected key=value'),
        ("a..b=1", '--set a..b=1: found "a..b=1"; expected key=value'),
        ("=1", '--set =1: found "=1"; expected key=value'),
        ("seed=[1", "--set seed: found broken YAML"),
        ("schedule.dfs.x=1", '--set schedule.dfs.x: found "dfs"; expected an entry of the list. Did you mean "dfs-'),
    ],
)
def test_a_wrong_override_is_named_as_typed(tmp_path: Path, override: str, message: str) -> None:
    assert message in str(refusal(tmp_path, SMALL, override))


def test_options_are_named_too(tmp_path: Path) -> None:
    assert str(refusal(tmp_path, seed=-1)).startswith("--seed: found -1; expected ")
    assert str(refusal(tmp_path, trials=0)).startswith("--trials: found 0; expected ")
    assert str(refusal(tmp_path, backend="sglan")).startswith('--backend sglan: backend.use: found "sglan"; expected ')


def test_a_key_of_a_block_the_file_leaves_out_starts_from_its_default(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL, "values.shape=2").values == Pareto(shape=2.0)
    assert load(tmp_path, SMALL, "values.sigma=2", "values.kind=lognormal").values == Lognormal(sigma=2.0)


def test_another_kind_drops_the_keys_of_the_old_one_and_keeps_those_it_takes(tmp_path: Path) -> None:
    poisson = SMALL + "arrivals: {kind: poisson, request_rate: 5.0}\n"
    assert load(tmp_path, poisson, "arrivals.kind=saturated").arrivals == Saturated()
    assert load(tmp_path, poisson, "arrivals.kind=gamma").arrivals == Gamma(request_rate=5.0)
    assert load(tmp_path, poisson, "arrivals.request_rate=7.0").arrivals == Poisson(request_rate=7.0)
    text = SMALL.replace("num_requests: 64", "num_requests: 64, cluster_size: 4")
    assert load(tmp_path, text, "workload.kind=trees").workload == Trees(num_requests=64)


def test_a_key_typed_beside_another_kind_must_be_one_of_its_keys(tmp_path: Path) -> None:
    poisson = SMALL + "arrivals: {kind: poisson, request_rate: 5.0}\n"
    error = refusal(tmp_path, poisson, "arrivals.request_rate=3", "arrivals.kind=saturated")
    assert error.where == "--set arrivals.request_rate"
    assert error.expected == "no key at all"


def test_rules_and_backends_drop_old_keys_too(tmp_path: Path) -> None:
    tiers = SMALL.replace("[dfs-bid, no-sort]", "[{use: tiers, label: a, tiers: 4}, no-sort]")
    assert load(tmp_path, tiers, "schedule.a.use=bid-sort").schedules[0].use == "bid-sort"
    assert load(tmp_path, tiers, "schedule.a.use=bid-sort").schedules[0].label == "a"
    paced = SMALL + "bidding: {use: pacing, budget: {kind: lognormal, median: 2.0, sigma: 1.0}}\n"
    assert load(tmp_path, paced, "bidding.use=truthful").schedules[0].bidding[0].use == "truthful"
    low = ["bidding.budget.kind=uniform", "bidding.budget.low=1.0", "bidding.budget.high=2.0"]
    assert load(tmp_path, paced, *low).schedules[0].bidding[0].agent.budget.high == 2.0  # type: ignore[attr-defined]


def test_another_kind_inside_a_block_starts_afresh(tmp_path: Path) -> None:
    text = SMALL.replace("num_requests: 64", "output_tokens: {kind: lognormal, median: 9.0, sigma: 1.0}")
    sets = [f"workload.output_tokens.{each}" for each in ("kind=uniform", "low=2", "high=3")]
    assert "workload.output_tokens" in refusal(tmp_path, text, "workload.output_tokens.kind={a: 1}").where
    assert load(tmp_path, text, *sets).workload.output_tokens == UniformTokens(low=2, high=3)  # type: ignore[attr-defined]

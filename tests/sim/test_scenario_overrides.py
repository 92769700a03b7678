from pathlib import Path

import pytest
from scenario_kit import SMALL, PaperServer, load, refusal

from sim.workloads.chains import Chains


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
        ("values.shape=2", "--set values.shape: values.kind: found nothing; expected a name under kind."),
        ("values={kind: pareto, shape: .nan}", "--set values: values.shape: found NaN; expected "),
        ("workload.kind=star", '--set workload.kind: found "star"; expected a name in sim.workloads. Did you mean "st'),
        ("workload={kind: stars, sharng: 1}", '--set workload: workload.sharng: found the unknown key "sharng"'),
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

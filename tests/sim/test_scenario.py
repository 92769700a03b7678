import json
import pickle
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from scenario_kit import BACKENDS, SMALL, PaperServer, load

from mechanism.bidding.truthful import Truthful
from mechanism.pricing.free import Free
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.no_sort import NoSort
from sim import arrivals, users, values
from sim.scenario import load_scenario
from sim.scenario_blocks import Batching, Dispatch
from sim.workloads.jsonl import Jsonl
from sim.workloads.stars import Stars

ROOT = Path(__file__).resolve().parent.parent.parent

#: The example of the specification, with a key of its backend that the tests' server knows.
FULL = """\
name: mixshare-50
seed: 3
trials: 3
workload: {kind: stars, num_requests: 1024, output_tokens: 1, sharing: 0.5, cluster_size: 16, prefix_tokens: 900,
           question_tokens: [30, 80], singleton_tokens: 950}
users: {kind: random, count: 64}
values: {kind: pareto, shape: 1.5, offset: 1.0, correlation: 0.25, only_cluster: 3}
arrivals: {kind: gamma, request_rate: .inf, burstiness: 0.5}
batching: {size: 256, max_wait_s: 0.5}
schedule: [dfs-bid, {use: dfs-bid, label: again}, bid-sort, no-sort]
payment: {again: pay-as-bid, no-sort: free}
bidding: truthful
dispatch: {in_flight: null}
slo: {ttft_ms: 1000, e2el_ms: 2000}
warmup_s: 1
cooldown_s: 2.5
backend: {use: simulated, kv_tokens: null}
"""


def test_a_small_scenario_gets_every_default(tmp_path: Path) -> None:
    scenario = load(tmp_path)
    assert (scenario.name, scenario.seed, scenario.trials) == ("small", 0, 1)
    assert scenario.workload == Stars(num_requests=64)
    assert scenario.workload_kind == "stars"
    assert scenario.users == users.PerRequest()
    assert scenario.values == values.Pareto(shape=1.5, offset=1.0, correlation=0.0, only_cluster=None)
    assert scenario.arrivals == arrivals.Saturated()
    assert scenario.batching == Batching(size=256, max_wait_s=0.5)
    assert scenario.dispatch == Dispatch(in_flight=1)
    assert [(s.label, s.use, s.rule) for s in scenario.schedules] == [
        ("dfs-bid", "dfs-bid", DfsBid()),
        ("no-sort", "no-sort", NoSort()),
    ]
    assert [(s.payment, s.pricing) for s in scenario.schedules] == [("vcg", Vcg()), ("free", Free())]
    assert [(each.use, each.agent, each.share) for each in scenario.schedules[0].bidding] == [
        ("truthful", Truthful(), 1)
    ]
    assert (scenario.backend.use, scenario.backend.config) == ("simulated", PaperServer())
    assert scenario.slo == ()
    assert scenario.saturated
    assert scenario.closed_loop is None
    assert scenario.path == tmp_path / "scenario.yaml"


def test_every_key_of_the_specification_is_read(tmp_path: Path) -> None:
    scenario = load(tmp_path, FULL)
    assert scenario.users == users.RandomUsers(count=64)
    assert scenario.values == values.Pareto(correlation=0.25, only_cluster=3)
    assert scenario.arrivals == arrivals.Gamma(request_rate=float("inf"), burstiness=0.5)
    assert [(s.label, s.use, s.payment) for s in scenario.schedules] == [
        ("dfs-bid", "dfs-bid", "vcg"),
        ("again", "dfs-bid", "pay-as-bid"),
        ("bid-sort", "bid-sort", "vcg"),
        ("no-sort", "no-sort", "free"),
    ]
    assert scenario.dispatch.in_flight is None
    assert scenario.slo == (("ttft_ms", 1000.0), ("e2el_ms", 2000.0))
    assert (scenario.warmup_s, scenario.cooldown_s) == (1.0, 2.5)
    assert scenario.backend.config.kv_tokens is None
    assert not scenario.saturated


def test_a_closed_loop_tells_the_market_its_clients(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL, "arrivals={kind: closed-loop, concurrency: 4, think_time_s: 0.25}")
    assert scenario.closed_loop is not None
    assert (scenario.closed_loop.concurrency, scenario.closed_loop.think_time_ns) == (4, 250_000_000)
    assert not scenario.saturated


def test_json_is_a_scenario_and_the_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "from-json.json"
    path.write_text(json.dumps({"workload": "stars", "schedule": "dfs-bid", "backend": "simulated"}))
    assert load_scenario(path, BACKENDS).name == "from-json"


@pytest.mark.parametrize("text", [SMALL, FULL])
def test_resolved_and_dumped_it_is_the_same_scenario_from_any_folder(tmp_path: Path, text: str) -> None:
    scenario = load(tmp_path, text)
    buffer = StringIO()
    YAML().dump(scenario.resolved(), buffer)
    elsewhere = tmp_path / "run"
    elsewhere.mkdir()
    again = load(elsewhere, buffer.getvalue())
    assert again.resolved() == scenario.resolved()
    assert again.config_hash == scenario.config_hash
    assert {**vars(again), "path": 0, "config_hash": 0} == {**vars(scenario), "path": 0, "config_hash": 0}


def test_resolved_writes_out_what_was_left_out(tmp_path: Path) -> None:
    resolved = load(tmp_path).resolved()
    assert resolved["payment"] == {"dfs-bid": {"use": "vcg"}, "no-sort": {"use": "free"}}
    assert resolved["workload"]["question_tokens"] == [30, 80]
    assert resolved["backend"] == {"use": "simulated", "kv_tokens": 23000, "page_tokens": 1}


def test_a_relative_path_starts_where_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("there", "here"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "w.jsonl").write_text('{"bid": 1, "tokens": [1]}\n')
    monkeypatch.chdir(tmp_path / "here")
    text = SMALL.replace("{kind: stars, num_requests: 64}", "{kind: jsonl, path: w.jsonl}")
    for overrides, folder in (((), "there"), (("workload.path=w.jsonl",), "here")):
        scenario = load(tmp_path / "there", text, *overrides)
        assert scenario.workload == Jsonl(path=tmp_path / folder / "w.jsonl")
    whole = load(tmp_path / "there", SMALL, "workload={kind: jsonl, path: w.jsonl}")
    assert whole.workload == Jsonl(path=tmp_path / "here" / "w.jsonl")


def test_the_hash_counts_a_file_by_its_content(tmp_path: Path) -> None:
    row = '{"bid": 1, "tokens": [1]}\n'
    for folder, content in (("a", row), ("b", row), ("c", row * 1 + '{"bid": 2, "tokens": [1]}\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "w.jsonl").write_text(content)
    text = SMALL.replace("{kind: stars, num_requests: 64}", "{kind: jsonl, path: w.jsonl}")
    a, b, c = (load(tmp_path / folder, text).config_hash for folder in "abc")
    assert a == b != c


def test_the_hash_moves_with_every_number(tmp_path: Path) -> None:
    overrides = ["seed=1", "trials=2", "workload.sharing=0.4", "payment=free", "backend.kv_tokens=1", "slo.tpot_ms=3"]
    hashes = {load(tmp_path, SMALL, override).config_hash for override in overrides}
    assert len(hashes | {load(tmp_path).config_hash}) == len(overrides) + 1


def test_a_workload_that_records_them_gives_users_values_and_arrivals(tmp_path: Path) -> None:
    (tmp_path / "clock.jsonl").write_text('{"bid": 1, "tokens": [1], "arrival_s": 2.0}\n')
    (tmp_path / "plain.jsonl").write_text('{"bid": 1, "tokens": [1]}\n')
    for name, expected in (("clock", arrivals.Trace()), ("plain", arrivals.Saturated())):
        text = SMALL.replace("{kind: stars, num_requests: 64}", f"{{kind: jsonl, path: {name}.jsonl}}")
        scenario = load(tmp_path, text)
        assert (scenario.users, scenario.values) == (users.FromTrace(), values.FromTrace())
        assert scenario.arrivals == expected


def test_a_shipped_scenario_loads_by_its_name() -> None:
    by_name = load_scenario("mixshare-50", {"simulated": PaperServer}, ["backend={use: simulated}"])
    by_path = load_scenario(ROOT / "scenarios" / "mixshare-50.yaml", BACKENDS, ["backend={use: simulated}"])
    assert by_name.resolved() == by_path.resolved()


def test_a_scenario_can_be_pickled_for_workers(tmp_path: Path) -> None:
    scenario = load(tmp_path, FULL)
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_loading_needs_no_heavy_package(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SMALL.replace("{use: simulated}", "{use: none}"))
    code = (
        "import sys; from sim.scenario import load_scenario; from sim.scenario_schema import json_schema\n"
        "try: load_scenario(sys.argv[1], {})\n"
        "except Exception as error: print(error)\n"
        "json_schema({}); import sim.population\n"
        "print(sorted({'scipy', 'plotly', 'networkx', 'polars', 'ray', 'tokenizers', 'bpe_openai'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "s.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from scenario_kit import BACKENDS, SMALL, load

from sim import plugins
from sim.scenario_schema import json_schema

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "scenarios"
SHIPPED = sorted(SCENARIOS.glob("*.yaml"))
VALIDATOR = Draft202012Validator(json_schema(BACKENDS))


def shipped_schema() -> Any:
    return json.loads((SCENARIOS / "scenario.schema.json").read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def test_it_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(json_schema(BACKENDS))


def test_the_shipped_schema_is_current() -> None:
    backends = {name: plugins.load("backends", name) for name in plugins.available("backends")}
    expected = json.loads(json.dumps(json_schema(backends)))
    assert shipped_schema() == expected, "run: inference-auctions schema > scenarios/scenario.schema.json"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_name_the_schema_and_obey_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[0] == "# yaml-language-server: $schema=scenario.schema.json"
    assert list(Draft202012Validator(shipped_schema()).iter_errors(parse(text))) == []
    assert parse(text)["name"] == path.stem


@pytest.mark.parametrize(
    "lines",
    [
        "schedule: dfs-bid",
        "schedule: {use: dfs-bid, label: a}",
        "schedule: [dfs-bid, {use: no-sort, label: b}, 'my_lab.rules:Aging']",
        "payment: default",
        "payment: {use: pay-as-bid}",
        "payment: {dfs-bid: vcg, no-sort: {use: free}}",
        "bidding: {use: 'my_lab.rules:Liar', factor: 2}",
        "workload: stars",
        "workload: {kind: chains, output_tokens: {kind: lognormal, median: 100, sigma: 1}}",
        "workload: {kind: 'my_lab.loads:Storm', size: 3}",
        "users: per-cluster",
        "arrivals: {kind: poisson, request_rate: .inf}",
        "dispatch: {in_flight: null}",
        "slo: null",
        "backend: {use: simulated, kv_tokens: null}",
    ],
)
def test_what_may_be_written_is_valid(lines: str) -> None:
    data = {**parse(SMALL), **parse(lines)}
    assert list(VALIDATOR.iter_errors(data)) == []


@pytest.mark.parametrize(
    "lines",
    [
        "alpha: 1",
        "seed: -1",
        "seed: true",
        "trials: '3'",
        "name: ''",
        "schedule: []",
        "schedule: dfs_bid",
        "schedule: {use: dfs-bid, depth: 3}",
        "payment: vgc",
        "payment: {dfs-bid: vgc}",
        "workload: mooncake",
        "workload: {kind: stars, sharing: 1.5}",
        "workload: {kind: stars, sharng: 0.5}",
        "workload: {kind: chains, output_tokens: 0}",
        "workload: {kind: chains, output_tokens: {kind: lognormal, median: 100}}",
        "users: {kind: random}",
        "values: {kind: pareto, correlation: 2}",
        "arrivals: poisson",
        "batching: {size: 0}",
        "dispatch: null",
        "slo: {ttft: 3}",
        "backend: {use: simulated, kv_tokens: 0}",
        "backend: sglan",
    ],
)
def test_what_the_loader_refuses_is_invalid(tmp_path: Path, lines: str) -> None:
    data = {**parse(SMALL), **parse(lines)}
    assert list(VALIDATOR.iter_errors(data)) != []
    with pytest.raises(Exception, match="expected"):
        load(tmp_path, json.dumps(data))


@pytest.mark.parametrize("key", ["workload", "schedule", "backend"])
def test_what_must_be_written_is_required(key: str) -> None:
    data = parse(SMALL)
    del data[key]
    assert list(VALIDATOR.iter_errors(data)) != []


def test_a_resolved_scenario_is_valid(tmp_path: Path) -> None:
    assert list(VALIDATOR.iter_errors(load(tmp_path).resolved())) == []


def test_every_key_is_described() -> None:
    def keys(schema: Any) -> list[str]:
        if isinstance(schema, list):
            return [key for item in schema for key in keys(item)]
        if not isinstance(schema, dict):
            return []
        named = schema.get("properties", {})
        missing = [key for key, value in named.items() if "description" not in value and "$ref" not in value]
        return missing + [key for value in schema.values() for key in keys(value)]

    undescribed = set(keys(shipped_schema()["properties"])) - {"kind", "use"}
    assert undescribed == set()

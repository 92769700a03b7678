"""What every workload plugin promises; a new file in `sim/workloads/` is tested by being there.

A plugin that needs parameters has them in `workload_examples/<kind>.yaml`, its files beside it.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML
from scenario_kit import SMALL, load

from mechanism.prompts import IntArray, Prompts
from sim import plugins
from sim.parameters import field_docs
from sim.population import make_requests
from sim.requests import Demand, RequestTable
from sim.rng import stream
from sim.scenario import Scenario

EXAMPLES = Path(__file__).resolve().parent / "workload_examples"
KINDS = plugins.available("sim.workloads")


@pytest.fixture(params=KINDS)
def scenario(request: pytest.FixtureRequest, tmp_path: Path) -> Scenario:
    """A small scenario around each plugin."""
    kind = request.param
    example = EXAMPLES / f"{kind}.yaml"
    block = {"num_requests": 40}
    if example.is_file():
        block = YAML(typ="safe", pure=True).load(example.read_text(encoding="utf-8"))
    elif any(f.default is dataclasses.MISSING for f in dataclasses.fields(plugins.load("sim.workloads", kind))):
        pytest.fail(f"{kind} has parameters without defaults: write {example}")
    for link in EXAMPLES.iterdir():
        (tmp_path / link.name).symlink_to(link)
    settings = ", ".join([f"kind: {kind}", *(f"{key}: {json.dumps(value)}" for key, value in block.items())])
    return load(tmp_path, SMALL.replace("kind: stars, num_requests: 64", settings))


def demand(scenario: Scenario, seed: int = 0, trial: int = 0) -> Demand:
    return scenario.workload.generate(lambda name: stream(seed, trial, name))


def columns(table: Any) -> dict[str, Any]:
    found = {}
    for field in dataclasses.fields(table):
        value = getattr(table, field.name)
        if isinstance(value, Prompts):
            found |= {f"{field.name}.symbols": value.symbols, f"{field.name}.indptr": value.indptr}
        else:
            found[field.name] = value
    return found


def equal(a: Any, b: Any) -> bool:
    mine, theirs = columns(a), columns(b)
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)


def lengths(table: RequestTable | Demand) -> set[int]:
    per_request = (table.output_tokens, table.cluster, table.arrival_ns, table.turn, table.session, table.request_id)
    return {len(column) for column in per_request if column is not None}


def is_whole(column: IntArray) -> bool:
    return np.issubdtype(column.dtype, np.integer)


def test_the_demand_is_well_formed(scenario: Scenario) -> None:
    found = demand(scenario)
    n = len(found.prompts)
    assert n > 0
    assert lengths(found) == {n}
    assert (found.prompts.num_tokens > 0).all()
    assert (found.output_tokens > 0).all()
    assert found.prompts.symbols.dtype in (np.int32, np.int64)
    assert found.prompts.indptr[0] == 0
    assert found.prompts.indptr[-1] == len(found.prompts.symbols)
    assert is_whole(found.output_tokens)
    assert is_whole(found.cluster)
    assert set(found.cluster.tolist()) == set(range(int(found.cluster.max()) + 1)), "clusters are dense"
    if found.request_id is not None:
        assert len(set(found.request_id)) == n
    assert found.arrival_ns is None or (found.arrival_ns >= 0).all()
    assert (found.turn is None) == (found.session is None)


def test_what_it_says_it_records_it_records(scenario: Scenario) -> None:
    found, recorded = demand(scenario), scenario.workload.recorded()
    columns = {"users": found.user, "values": found.value, "bids": found.bid}
    columns |= {"arrivals": found.arrival_ns, "sessions": found.think_ns}
    assert recorded <= columns.keys()
    assert all(columns[name] is not None for name in recorded)


def test_the_same_seed_gives_the_same_requests(scenario: Scenario) -> None:
    assert equal(demand(scenario), demand(scenario))


def test_a_pickled_copy_gives_the_same_requests(scenario: Scenario) -> None:
    again = pickle.loads(pickle.dumps(scenario))
    assert equal(demand(scenario), demand(again))


def test_trials_differ_where_anything_is_drawn(scenario: Scenario) -> None:
    asked: list[str] = []
    scenario.workload.generate(lambda name: (asked.append(name), stream(0, 0, name))[1])  # type: ignore[misc]
    assert all(name.startswith("workload-") for name in asked)
    tables = [make_requests(scenario, trial)[0] for trial in (0, 1)]
    drawn = asked and not equal(demand(scenario), demand(scenario, trial=1))
    assert drawn or {"users", "values"} <= scenario.workload.recorded() or not equal(*tables)


def test_the_table_is_sorted_by_arrival_and_its_ids_are_unique(scenario: Scenario) -> None:
    table, _ = make_requests(scenario, 0)
    n = len(table)
    assert lengths(table) == {n}
    assert len(set(table.request_id)) == n
    assert (np.diff(table.arrival_ns) >= 0).all()
    assert table.user.min() >= 0
    assert table.user.max() < len(table.user_names)
    for money in (table.value, table.stated_bid):
        assert money.shape == (n,)
        assert np.isfinite(money).all()
        assert (money >= 0).all()


def test_outputs_are_as_long_as_they_say(scenario: Scenario) -> None:
    found = demand(scenario)
    if found.output_ids is None:
        assert found.output_recorded is None
        return
    recorded = np.ones(len(found.prompts), dtype=np.bool_) if found.output_recorded is None else found.output_recorded
    np.testing.assert_array_equal(found.output_ids.num_tokens[recorded], found.output_tokens[recorded])


def test_it_is_a_frozen_dataclass_whose_docstring_describes_every_field(scenario: Scenario) -> None:
    cls = type(scenario.workload)
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    described = {name for base in cls.__mro__ for name in field_docs(base)}
    assert {field.name for field in dataclasses.fields(cls)} <= described

"""From cells to records, on workloads small enough to run here; and that budgets need no engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backends.simulated import Simulated
from sim.errors import InvariantError
from sim.reproduce.engine_settings import SETTINGS
from sim.reproduce.experiments import FIGURES, PACING, scenario_of
from sim.reproduce.reproduction import Plan, run_cells, time_auctions, write_records
from sim.reproduce.text_source import SYNTHETIC, TextSource
from sim.simulate import run

BACKENDS = {"simulated": Simulated}
SMALL = {
    "stars": ("workload.num_requests=48", "workload.cluster_size=8"),
    "chains": ("workload.num_requests=48",),
    "short-tree": ("workload.num_requests=48",),
    "long-tree": ("workload.num_requests=48", "workload.num_trees=2"),
}


@pytest.fixture(scope="module")
def small() -> TextSource:
    scenarios = {shape: (name, SMALL.get(shape, extra)) for shape, (name, extra) in SYNTHETIC.scenarios.items()}
    return replace(SYNTHETIC, scenarios=scenarios)


@pytest.fixture(scope="module")
def done(small: TextSource, tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, dict[str, dict]]:
    plan = Plan(figures=("fig2",), out=tmp_path_factory.mktemp("out") / "deep", text=small, trials=2)
    return plan, write_records(plan, run_cells(plan, BACKENDS), time_auctions(plan, BACKENDS))


def test_a_record_holds_every_point_in_every_setting(done: tuple[Plan, dict[str, dict]]) -> None:
    plan, records = done
    record = json.loads((plan.out / "fig2.json").read_text(encoding="utf-8"))
    assert record == records["fig2"]
    points = record["panels"][0]["points"]
    assert [point["label"] for point in points] == ["stars", "chains", "short trees", "long trees"]
    assert all(list(point["cells"]) == ["serial", "window-4", "queue"] for point in points)
    assert record["command"] == "inference-auctions reproduce fig2 --seed 0 --trials 2"


def test_a_points_own_command_gives_its_number(done: tuple[Plan, dict[str, dict]], small: TextSource) -> None:
    _, records = done
    cell = records["fig2"]["panels"][0]["points"][1]["cells"]["window-4"]
    assert cell["command"].startswith("inference-auctions simulate chains --set=workload.num_requests=48")
    scenario = scenario_of(FIGURES["fig2"].experiments()[1], SETTINGS[1], small, BACKENDS, seed=0, trials=2)
    again = run(scenario, scenario.backend.config).summary["schedules"]
    assert cell["schedules"]["bid-sort"]["hit_rate"]["mean"] == again["bid-sort"]["hit_rate"]["mean"]


def test_the_same_plan_again_runs_nothing(done: tuple[Plan, dict[str, dict]]) -> None:
    plan, _ = done
    before = {path.name: path.stat().st_mtime_ns for path in (plan.out / "cells").iterdir()}
    seen: list[tuple[int, int, int]] = []
    run_cells(plan, BACKENDS, lambda *counts: seen.append(counts))
    assert seen == [(12, 0, 12)]
    assert {path.name: path.stat().st_mtime_ns for path in (plan.out / "cells").iterdir()} == before


def test_a_cell_that_fails_is_named_and_the_others_are_kept(small: TextSource, tmp_path: Path) -> None:
    log = tmp_path / "broken.json"
    log.write_text("{", encoding="utf-8")
    block = json.dumps({"kind": "tree-of-thought", "variant": "short", "path": str(log), "tokenizer": None})
    broken = ("long-tree", (f"workload={block}",))
    text = replace(small, scenarios={**small.scenarios, "long-tree": broken})
    plan = Plan(figures=("fig2",), out=tmp_path / "out", text=text, trials=1)
    with pytest.raises(InvariantError, match=r"3 of 12 cells failed, the first of long-tree, serial"):
        run_cells(plan, BACKENDS)
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 9


def test_the_engine_has_no_say_in_what_budgets_cost() -> None:
    small = ("workload.num_requests=192", "batching.size=32")
    scenarios = {**SYNTHETIC.scenarios, "pacing-stars": ("pacing-60", small)}
    text = replace(SYNTHETIC, scenarios=scenarios)
    found = []
    for setting in SETTINGS:
        scenario = scenario_of(PACING["stars"], setting, text, BACKENDS, seed=0, trials=1)
        found.append(run(scenario, scenario.backend.config).summary["pacing"])
    assert found[0] == found[1] == found[2]

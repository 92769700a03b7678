import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_kit import SMALL, load, refusal

from sim.errors import ScenarioError
from sim.sweep_block import SweepBlock
from sim.sweep_design import Design, SweepOptions, read_design
from sim.yaml_source import read_yaml

BLOCK = """\
sweep:
  grid: {batching.size: [8, 16]}
  zip: {workload.sharing: [0.1, 0.5], values.shape: [2.0, 3.0]}
  random: {points: 3, ranges: {values.correlation: {low: 0, high: 1}}}
"""


def design(folder: Path, text: str = SMALL, **options: Any) -> Design:
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return read_design(read_yaml(path), SweepOptions(**options))


def points(found: Design) -> list[dict[str, Any]]:
    return [found.settings(index) for index in range(len(found))]


def said(folder: Path, text: str = SMALL, **options: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        design(folder, text, **options)
    return str(caught.value).replace(str(folder / "scenario.yaml"), "FILE")


def test_a_grid_is_every_combination_and_the_last_axis_steps_fastest(tmp_path: Path) -> None:
    found = design(tmp_path, sets=["batching.size=8,16", "trials=2", "schedule=dfs-bid,no-sort"])
    assert points(found) == [
        {"batching.size": size, "schedule": schedule}
        for size, schedule in itertools.product((8, 16), ("dfs-bid", "no-sort"))
    ]
    assert ("trials", 2, "--set trials") in found.overrides(3)


def test_a_block_says_the_same_things(tmp_path: Path) -> None:
    options = {
        "sets": ["batching.size=8,16"],
        "zips": ["workload.sharing=0.1,0.5", "values.shape=2.0,3.0"],
        "random": 3,
        "ranges": ["values.correlation=0,1"],
    }
    typed, written = design(tmp_path, SMALL, **options), design(tmp_path, SMALL + BLOCK)
    assert points(typed) == points(written)
    assert len(typed) == 12
    assert points(typed)[0].keys() == {"batching.size", "workload.sharing", "values.shape", "values.correlation"}


def test_the_command_line_takes_keys_out_of_the_block(tmp_path: Path) -> None:
    found = design(tmp_path, SMALL + BLOCK, sets=["batching.size=64", "workload.sharing=0.2", "values.correlation=0"])
    assert points(found) == [{"values.shape": 2.0}, {"values.shape": 3.0}]
    found = design(tmp_path, SMALL + BLOCK, zips=["batching.size=1,2,3"])
    assert {tuple(point) for point in points(found)} == {("batching.size", "values.correlation")}
    assert len(found) == 9
    assert len(design(tmp_path, SMALL + BLOCK, random=5)) == 20


def test_blocks_are_set_before_the_keys_inside_them(tmp_path: Path) -> None:
    found = design(tmp_path, sets=["backend.kv_tokens=100,200", "backend=simulated"])
    assert [key for key, _, _ in found.overrides(0)] == ["backend", "backend.kv_tokens"]


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 200), st.integers(0, 2**40))
def test_a_latin_hypercube_meets_every_slice_once(points_wanted: int, seed: int) -> None:
    source = read_yaml(Path(__file__).resolve().parents[2] / "scenarios" / "chains.yaml")
    ranges = ["values.correlation=0,1", "values.shape=1,1000,log", "batching.size=1,4,integer"]
    options = SweepOptions(random=points_wanted, ranges=ranges, seed=seed)
    found = points(read_design(source, options))
    for step, value in enumerate(sorted(point["values.correlation"] for point in found)):
        assert step / points_wanted - 1e-12 <= value <= (step + 1) / points_wanted + 1e-12
    below = sum(point["values.shape"] < 1000**0.5 for point in found)
    assert abs(below - points_wanted / 2) <= 0.5
    sizes = [point["batching.size"] for point in found]
    assert {type(size) for size in sizes} == {int}
    # an interval cuts at most two slices, so its share is met but for less than two points
    assert all(abs(sizes.count(size) - points_wanted / 4) < 2 for size in (1, 2, 3, 4))
    assert found == points(read_design(source, options))


def test_other_seeds_draw_other_points(tmp_path: Path) -> None:
    drawn = [points(design(tmp_path, SMALL + BLOCK, seed=seed)) for seed in (0, 1)]
    assert drawn[0] != drawn[1]
    assert drawn[1] == points(design(tmp_path, SMALL + BLOCK, sets=["seed=1"]))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "FILE: found nothing to sweep; expected a key with several values."),
        ({"sets": ["trials=3"]}, "nothing to sweep"),
        ({"sets": ["a=1,2", "a=3,4"]}, "--set a: found the key a in --set a too; expected each key once."),
        ({"sets": ["a=1,2"], "zips": ["a=3,4"]}, "--zip a: found the key a in --set a too"),
        ({"sets": ["seed=1,2"], "seed": 3}, "found the key seed in --set seed too"),
        ({"random": 3}, "--random: found no range to draw from"),
        ({"ranges": ["a=1,2"]}, "--range: found no number of points; expected --random N beside it."),
        ({"random": 2_000_000, "ranges": ["a=1,2"]}, "found 2,000,000 points; expected at most 1,000,000."),
        (
            {"sets": [f"{key}={','.join(map(str, range(101)))}" for key in "abc"]},
            "FILE: found 1,030,301 points; expected at most 1,000,000. Give fewer values, or draw some",
        ),
    ],
)
def test_what_is_no_design_is_refused(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    assert expected in said(tmp_path, **options)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            "{gird: {a: [1]}}",
            'FILE:5: sweep.gird: found the unknown key "gird"; expected a known key. Did you mean',
        ),
        ("{grid: {a: []}}", "FILE:5: sweep.grid.a"),
        ("{grid: {a: 3}}", "FILE:5: sweep.grid.a: found 3; expected a valid array"),
        ("{grid: {a..b: [1]}}", 'found the axis "a..b"'),
        ("{grid: {a: [1, 1]}}", "FILE:5: found 1 twice"),
        ("{grid: {a: [1]}, zip: {a: [1]}}", "the key a on two axes"),
        ("{zip: {a: [1], b: [1, 2]}}", "found 2 values of b; expected 1"),
        ("{random: {points: 0, ranges: {a: {low: 0, high: 1}}}}", "sweep.random.points"),
        ("{random: {points: 3, ranges: {}}}", "sweep.random.ranges"),
        ("{random: {points: 3, ranges: {a: {low: 0, hihg: 1}}}}", 'Did you mean "high"'),
        ("{random: {points: 3, ranges: {a: {low: 2, high: 1}}}}", "a high above low, which is 2"),
        ("[1]", "expected a block of keys"),
    ],
)
def test_what_is_no_block_is_refused_by_line_and_key(tmp_path: Path, block: str, expected: str) -> None:
    assert expected in said(tmp_path, f"{SMALL}sweep: {block}\n")


def test_a_scenario_with_a_block_is_the_same_experiment_without_it(tmp_path: Path) -> None:
    plain, swept = load(tmp_path), load(tmp_path, SMALL + BLOCK)
    assert plain.sweep == SweepBlock()
    assert len(swept.sweep.grid) == 1
    assert swept.config_hash == plain.config_hash
    assert swept.resolved() == plain.resolved()
    assert "sweep" not in swept.resolved()


def test_a_broken_block_is_refused_wherever_the_scenario_is_loaded(tmp_path: Path) -> None:
    assert refusal(tmp_path, SMALL + "sweep: {gird: {}}\n").where.endswith(":5: sweep.gird")


@pytest.mark.parametrize(
    "options",
    [
        {"sets": ["schedule={use: k-lpm, k: 2},{use: k-lpm, k: 8},dfs-bid"]},
        {"sets": ["schedule=k-lpm,[dfs-bid, {use: k-lpm, k: 8}]"]},
        {"sets": ["schedule={use: tiers, label: k-lpm},k-lpm"]},
        {"zips": ["batching.size=8,16", "schedule={use: k-lpm, k: 2},{use: k-lpm, k: 8}"]},
    ],
)
def test_schedules_that_differ_need_labels_that_differ(tmp_path: Path, options: dict[str, Any]) -> None:
    """Results are told apart by label, as within one list of schedules."""
    option = "--zip" if "zips" in options else "--set"
    expected = f'{option} schedule: found "k-lpm" twice; expected labels that differ. Give one of them a label: '
    assert said(tmp_path, **options) == expected + "{use: k-lpm, label: …}."


def test_one_schedule_in_several_lists_needs_no_label(tmp_path: Path) -> None:
    values = "dfs-bid,[dfs-bid, {use: k-lpm, k: 2}],[{use: dfs-bid}, {use: k-lpm, k: 2.0}],{use: k-lpm, k: 8, label: k}"
    assert len(design(tmp_path, sets=[f"schedule={values}"])) == 4


def test_a_block_s_schedules_need_labels_too(tmp_path: Path) -> None:
    block = "sweep: {grid: {schedule: [{use: k-lpm, k: 2}, {use: k-lpm, k: 8}]}}\n"
    assert 'found "k-lpm" twice; expected labels that differ' in said(tmp_path, SMALL + block)

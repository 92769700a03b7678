from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import write_small

from sim.errors import ScenarioError
from sim.plugins import available, load
from sim.scenario import load_scenario, open_scenario
from sim.sweep_design import SweepOptions, read_design
from sim.sweep_points import SweepPoints, check_scenario, setting_text

BACKENDS = {name: load("backends", name) for name in available("backends")}


def points(path: Path, *sets: str, **options: Any) -> SweepPoints:
    source = open_scenario(path)
    return SweepPoints(source, read_design(source, SweepOptions(sets=sets, **options)), BACKENDS)


def test_a_point_is_the_scenario_that_set_makes(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    made = points(path, "batching.size=8,16", "schedule=dfs-bid,[bid-sort, no-sort]", "users=per-cluster", seed=3)
    assert [point.settings for point in made][1] == {"batching.size": 8, "schedule": ["bid-sort", "no-sort"]}
    sets = ["batching.size=16", "schedule=[bid-sort, no-sort]", "users=per-cluster"]
    assert made[3].scenario.config_hash == load_scenario(path, BACKENDS, sets, seed=3).config_hash


def test_points_do_not_touch_each_other(tmp_path: Path) -> None:
    made = points(write_small(tmp_path), "workload.output_tokens={kind: uniform, low: 1, high: 2},3")
    first = made[0].scenario.config_hash
    assert made[1].scenario.config_hash != first
    assert made[0].scenario.config_hash == first
    assert [point.settings for point in made[0:2]] == [point.settings for point in made]


def test_a_wrong_point_says_where_the_value_stands_and_which_point_it_is(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    made = points(path, "schedule=dfs-bid,bid-sort", "batching.size=8,0")
    with pytest.raises(ScenarioError) as caught:
        list(made)
    assert caught.value.where == "--set batching.size (point 1: schedule=dfs-bid, batching.size=0)"
    path.write_text(path.read_text() + "sweep: {grid: {batchng.size: [8, 0]}}\n")
    with pytest.raises(ScenarioError) as caught:
        check_scenario(str(path), BACKENDS, [], None)
    assert caught.value.where == f"{path}:9: batchng (point 0: batchng.size=8)"
    assert caught.value.suggestion == 'Did you mean "batching"?'


def test_what_fits_only_together_is_checked_together(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    options = ("backend.page_tokens=1,16", "backend.chunked_prefill_tokens=8,16")
    with pytest.raises(ScenarioError, match=r"point 2: backend.page_tokens=16, backend.chunked_prefill_tokens=8"):
        list(points(path, *options))


def test_paths_start_where_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    for folder, bid in ((tmp_path, 1), (tmp_path / "here", 2)):
        for name in ("a", "b"):
            (folder / f"{name}.jsonl").write_text(f'{{"bid": {bid}, "tokens": [1, 2], "output_tokens": 1}}\n')
    path = tmp_path / "log.yaml"
    path.write_text(
        "workload: {kind: jsonl, path: a.jsonl}\nschedule: dfs-bid\nbackend: simulated\n"
        "sweep: {grid: {workload.path: [a.jsonl, b.jsonl]}}\n"
    )
    monkeypatch.chdir(tmp_path / "here")
    written, typed = points(path), points(path, "workload.path=a.jsonl,b.jsonl")
    assert written[1].scenario.resolved()["workload"]["path"] == str(tmp_path / "b.jsonl")
    assert typed[1].scenario.resolved()["workload"]["path"] == str(tmp_path / "here" / "b.jsonl")


def test_check_makes_every_point_of_the_block_and_none_where_there_is_none(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    assert check_scenario(str(path), BACKENDS, ["seed=4"], None)[1] == 0
    path.write_text(path.read_text() + "sweep: {grid: {batching.size: [8, 9, 10]}}\n")
    scenario, number = check_scenario(str(path), BACKENDS, ["seed=4"], None)
    assert (scenario.seed, number) == (4, 3)


def test_check_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    @contextmanager
    def bar(what: str, *, show: bool) -> Iterator[Any]:
        told.append((what, show))
        yield lambda *numbers: told.append(numbers)

    monkeypatch.setattr("sim.sweep_points.cells_bar", bar)
    path = write_small(tmp_path)
    path.write_text(path.read_text() + "sweep: {grid: {batching.size: [8, 9, 10]}}\n")
    check_scenario(str(path), BACKENDS, [], None)
    assert told == [("checking points", True), (1, 0, 3), (2, 0, 3), (3, 0, 3)]


@pytest.mark.parametrize("axis", ["values.correlation: [0, 0.5]", "values.kind: [lognormal, uniform]"])
def test_a_block_varies_what_set_varies(tmp_path: Path, axis: str) -> None:
    """A key of a block that the file leaves out, and a kind beside which the file's keys fall away."""
    path, (key, values) = write_small(tmp_path), axis.split(": ")
    if key == "values.kind":
        path.write_text(path.read_text() + "values: {kind: pareto, shape: 1.5}\n")
    typed = points(path, f"{key}={values[1:-1]}")
    path.write_text(path.read_text() + f"sweep: {{grid: {{{axis}}}}}\n")
    written = points(path)
    assert [each.scenario.resolved() for each in written] == [each.scenario.resolved() for each in typed]
    assert check_scenario(str(path), BACKENDS, [], None)[1] == 2


def test_settings_read_as_they_are_typed() -> None:
    assert [setting_text(value) for value in ("word", 1, 0.5, None, True, [1], float("inf"))] == [
        "word", "1", "0.5", "null", "true", "[1]", ".inf",
    ]  # fmt: skip

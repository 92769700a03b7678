"""One point measured twice is one measurement; a server that answers otherwise the second time gives repeats."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from compare_kit import grid_metrics, scenario, write_plain_run, write_sweep

from sim.compare import Comparison, compare
from sim.compare_words import cautions

WELFARE = "welfare_pct_over_random"
BOTH = ("dfs-bid", "bid-sort")


def live_metrics(settings: Mapping[str, Any], schedule: str, trial: int) -> dict[str, float | None]:
    """A second measurement of the same: everybody's welfare is 0.5 higher."""
    metrics = dict(grid_metrics(settings, schedule, trial))
    return {**metrics, WELFARE: (metrics[WELFARE] or 0.0) + 0.5}


def run(folder: Path, place: str, size: int, schedules: tuple[str, ...] = BOTH, **changes: Any) -> Path:
    trials = {label: [grid_metrics({"batching.size": size}, label, trial) for trial in (0, 1)] for label in schedules}
    return write_plain_run(folder / place, scenario(schedules, batching__size=size, **changes), trials)


def leads(found: Comparison) -> dict[tuple[Any, ...], list[float | None]]:
    """Setting → bid-sort − dfs-bid in welfare, trial by trial."""
    return {setting.values: found.differences(setting, "bid-sort", WELFARE) for setting in found.settings}


@pytest.mark.parametrize("as_axis", [True, False])
def test_two_sweeps_that_share_a_point_are_paired_everywhere(tmp_path: Path, as_axis: bool) -> None:
    more = {"schedule": list(BOTH)} if as_axis else {}
    first = write_sweep(tmp_path / "a", {**more, "batching.size": [16, 32]})
    second = write_sweep(tmp_path / "b", {**more, "batching.size": [32, 64]})
    found = compare([first, second])
    assert [axis.key for axis in found.axes] == ["batching.size"]
    assert leads(found) == {(16,): [-2.0, 0.0], (32,): [-1.0, 1.0], (64,): [1.0, 3.0]}
    assert len(found.complete) == 3
    points = (2, 8) if as_axis else (1, 4)
    assert (found.repeats.repeated, found.repeats.points) == points
    said = f"{points[0]} of {points[1]} points repeat another one, trial for trial: each is counted once."
    assert said in list(cautions(found))


def test_a_run_beside_a_sweep_that_has_its_point(tmp_path: Path) -> None:
    swept = write_sweep(tmp_path / "s", {"schedule": list(BOTH), "batching.size": [16, 64]})
    found = compare([swept, run(tmp_path, "r", 64)])
    assert leads(found) == {(16,): [-2.0, 0.0], (64,): [1.0, 3.0]}
    assert found.settings[1].rows["bid-sort"].place == "cell 3"  # the first of its like


def test_five_runs_one_of_them_a_repeat(tmp_path: Path) -> None:
    runs = [run(tmp_path, f"r{place}", size) for place, size in enumerate((16, 32, 64, 128, 32))]
    found = compare(runs)
    assert [setting.values for setting in found.settings] == [(16,), (32,), (64,), (128,)]
    assert (found.repeats.repeated, found.repeats.points) == (1, 5)


def test_random_points_that_repeat_are_no_settings_of_their_own(tmp_path: Path) -> None:
    rows = {"schedule": ["dfs-bid", "dfs-bid", "dfs-bid", "bid-sort", "bid-sort", "bid-sort"]}
    found = compare([write_sweep(tmp_path / "s", {**rows, "batching.size": [8, 9, 8, 8, 9, 8]}, design="random")])
    assert {setting.values[-1]: len(setting.rows) for setting in found.settings} == {8: 2, 9: 2}
    assert (found.repeats.repeated, found.repeats.points) == (2, 6)


@pytest.mark.parametrize("as_axis", [True, False])
def test_repeats_that_differ_are_numbered_for_each_schedule(tmp_path: Path, as_axis: bool) -> None:
    axes = {"schedule": list(BOTH), "batching.size": [64]} if as_axis else {"batching.size": [64]}
    first = write_sweep(tmp_path / "a", axes)
    again = write_sweep(tmp_path / "b", axes, metrics=live_metrics)
    found = compare([first, again])
    assert [(axis.key, axis.values) for axis in found.axes] == [("run", (1, 2))]
    assert leads(found) == {(1,): [1.0, 3.0], (2,): [1.0, 3.0]}
    assert found.estimate(found.settings[1], "dfs-bid", WELFARE).mean == 12.0
    assert found.repeats.repeated == 0


def test_a_name_alone_and_64_point_0_make_no_other_measurement(tmp_path: Path) -> None:
    found = compare([run(tmp_path, "a", 64), run(tmp_path, "b", 64.0, name="other")])
    assert (len(found.settings), found.repeats.repeated) == (1, 1)


def test_another_seed_is_no_repeat_however_equal_the_numbers(tmp_path: Path) -> None:
    found = compare([run(tmp_path, "a", 64), run(tmp_path, "b", 64, seed=1)])
    assert (len(found.settings), found.repeats.repeated) == (2, 0)


def test_a_hole_of_a_sweep_whose_points_all_repeat_lies_where_its_cells_do(tmp_path: Path) -> None:
    first = write_sweep(tmp_path / "a", {"batching.size": [16, 32]})
    second = write_sweep(tmp_path / "b", {"batching.size": [32, 64]}, absent={1: "no room"})
    found = compare([first, second, run(tmp_path, "r", 16, workload__sharing=0.9)])
    holes = [setting.values for setting in found.settings if setting.missing]
    assert holes == [(64, 0.5)]


def test_a_block_on_an_axis_does_not_change_together_with_itself(tmp_path: Path) -> None:
    blocks = [{"kind": "pareto", "shape": 1.5}, {"kind": "uniform"}]
    found = compare([write_sweep(tmp_path / "s", {"values": blocks})])
    assert [(axis.key, axis.companions) for axis in found.axes] == [("values", ())]
    together = {"values": blocks, "batching.size": [8, 16]}
    zipped = compare([write_sweep(tmp_path / "z", together, design="zip")])
    assert [(axis.key, axis.companions) for axis in zipped.axes] == [("values", ("batching.size",))]
    by_block = compare([tmp_path / "s"], 'values={"kind": "uniform"}')
    assert not [said for said in cautions(by_block) if "changes together" in said]


def test_payments_on_an_axis_do_not_change_together_with_their_own_names(tmp_path: Path) -> None:
    payments = [{name: {"use": use} for name in BOTH} for use in ("vcg", "gsp")]
    found = compare([write_sweep(tmp_path / "s", {"payment": payments})])
    assert [(axis.key, axis.companions) for axis in found.axes] == [("payment", ())]

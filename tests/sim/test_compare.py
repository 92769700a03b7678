"""What is an axis, who is paired with whom, and what is left out: on folders with numbers made up by hand."""

from pathlib import Path

import pytest
from compare_kit import GRID, grid_metrics, scenario, write_plain_run, write_sweep

from sim.compare import Comparison, compare
from sim.compare_axes import Axis
from sim.compare_differences import differences, unpaired
from sim.errors import ScenarioError

WELFARE = "welfare_pct_over_random"


def run(folder: Path, place: str, schedules: tuple[str, ...] = ("dfs-bid", "bid-sort"), **changes: object) -> Path:
    data = scenario(schedules, **changes)
    settings = {"batching.size": data["batching"]["size"], "workload.sharing": data["workload"]["sharing"]}
    trials = {label: [grid_metrics(settings, label, trial) for trial in (0, 1)] for label in schedules}
    return write_plain_run(folder / place, data, trials)


def keys(comparison: Comparison) -> list[str]:
    return [axis.key for axis in comparison.axes]


def test_a_sweep_has_the_axes_of_its_design(tmp_path: Path) -> None:
    found = compare([write_sweep(tmp_path / "s", GRID)])
    assert [(axis.key, axis.values, axis.companions) for axis in found.axes] == [
        ("batching.size", (16, 64, 256), ()),
        ("workload.sharing", (0.1, 0.9), ()),
    ]
    assert (found.by, found.contenders, found.baseline) == ("schedule", ("dfs-bid", "bid-sort"), "dfs-bid")
    assert [setting.values for setting in found.settings] == [(n, s) for n in (16, 64, 256) for s in (0.1, 0.9)]


def test_differences_are_paired_trial_by_trial_and_averaged_within_a_trial(tmp_path: Path) -> None:
    """Leads are −2, 0 at 16; 1, 3 at 64; 13, 15 at 256: trials average to 4 and 6."""
    found = compare([write_sweep(tmp_path / "s", GRID)])
    assert found.differences(found.settings[0], "bid-sort", WELFARE) == [-2.0, 0.0]
    assert found.differences(found.settings[-1], "bid-sort", WELFARE) == [13.0, 15.0]
    assert found.mean_differences(found.settings, "bid-sort", WELFARE) == pytest.approx([4.0, 6.0])
    over = next(each for each in differences(found, [WELFARE]) if each.setting is None)
    assert (over.interval.mean, over.interval.se, over.interval.n) == (5.0, pytest.approx(1.0), 2)
    assert (over.interval.low, over.interval.high) == (pytest.approx(5 - 12.7062), pytest.approx(5 + 12.7062))
    assert over.bootstrap == pytest.approx((4.0, 6.0))
    assert over.interval.told is False


def test_schedules_as_an_axis_are_contenders(tmp_path: Path) -> None:
    axes = {"schedule": ["dfs-bid", "bid-sort"], "batching.size": [16, 64]}
    found = compare([write_sweep(tmp_path / "s", axes)])
    assert (keys(found), found.contenders) == (["batching.size"], ("dfs-bid", "bid-sort"))
    assert found.differences(found.settings[0], "bid-sort", WELFARE) == [-2.0, 0.0]


def test_keys_that_step_together_are_one_axis(tmp_path: Path) -> None:
    axes = {"batching.size": [16, 64], "workload.sharing": [0.1, 0.9]}
    found = compare([write_sweep(tmp_path / "s", axes, design="zip")])
    assert [(axis.key, axis.companions) for axis in found.axes] == [("batching.size", ("workload.sharing",))]


def test_every_drawn_key_is_an_axis(tmp_path: Path) -> None:
    axes = {"batching.size": [16, 31, 77], "workload.sharing": [0.3, 0.9, 0.1]}
    assert keys(compare([write_sweep(tmp_path / "s", axes, design="random")])) == list(axes)


def test_runs_differ_by_their_resolved_scenarios(tmp_path: Path) -> None:
    runs = [run(tmp_path, f"r{size}", batching__size=size) for size in (64, 16)]
    found = compare(runs)
    assert [(axis.key, axis.values) for axis in found.axes] == [("batching.size", (16, 64))]
    assert found.settings[0].rows["dfs-bid"].page == runs[1] / "report.html"
    assert found.settings[0].rows["dfs-bid"].command.startswith("inference-auctions simulate ")


def test_a_name_stands_for_many_keys(tmp_path: Path) -> None:
    other = {"name": "chains", "workload__kind": "chains", "workload__turns": 10}
    found = compare([run(tmp_path, "a"), run(tmp_path, "b", **other)])
    assert keys(found) == ["name"]
    assert "workload.kind" in found.axes[0].companions


def test_a_run_beside_a_sweep_fills_its_grid(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", {"batching.size": [16, 64]})
    found = compare([sweep, run(tmp_path, "r", batching__size=256)])
    assert [setting.values for setting in found.settings] == [(16,), (64,), (256,)]


def test_the_same_folder_twice_is_one(tmp_path: Path) -> None:
    folder = run(tmp_path, "r")
    found = compare([folder, folder])
    assert (len(found.sources), len(found.settings), found.repeats.repeated) == (1, 1, 0)


def test_schedules_of_several_runs_are_paired_where_all_else_is_equal(tmp_path: Path) -> None:
    first, same = run(tmp_path, "a", ("dfs-bid",)), run(tmp_path, "b", ("bid-sort",))
    paired = compare([first, same])
    assert keys(paired) == []
    assert paired.differences(paired.settings[0], "bid-sort", WELFARE) == [1.0, 3.0]


@pytest.mark.parametrize(("change", "key"), [({"seed": 1}, "seed"), ({"backend__kv_tokens": 7}, "backend.kv_tokens")])
def test_another_seed_or_cache_is_another_setting(tmp_path: Path, change: dict, key: str) -> None:
    """The difference would be put down to the schedules, and is not theirs."""
    apart = compare([run(tmp_path, "a", ("dfs-bid",)), run(tmp_path, "b", ("bid-sort",), **change)])
    assert keys(apart) == [key]
    assert all(not apart.differences(setting, "bid-sort", WELFARE) for setting in apart.settings)
    assert differences(apart, [WELFARE]) == ()


def test_other_requests_are_not_paired(tmp_path: Path) -> None:
    swept = write_sweep(tmp_path / "s", {"workload.sharing": [0.1, 0.9]})
    found = compare([swept], "workload.sharing=0.1")
    assert found.differences(found.settings[0], "workload.sharing=0.9", WELFARE) == []
    assert [name for _, name in unpaired(found)] == ["workload.sharing=0.9"] * 2


def test_values_of_a_key_can_be_compared(tmp_path: Path) -> None:
    runs = [run(tmp_path, f"r{size}", batching__size=size) for size in (16, 64)]
    found = compare(runs, "batching.size=16")
    assert (found.contenders, keys(found)) == (("batching.size=16", "batching.size=64"), ["schedule"])
    assert found.differences(found.settings[1], "batching.size=64", WELFARE) == [3.0, 3.0]
    alone = [run(tmp_path, f"a{size}", ("bid-sort",), batching__size=size) for size in (16, 64)]
    assert compare(alone).by == "batching.size"  # one schedule everywhere: what differs is compared
    assert compare([run(tmp_path, "x", ("bid-sort",)), run(tmp_path, "y", ("bid-sort",), seed=3)]).by == "schedule"


def test_a_trial_that_one_of_them_lacks_is_left_out(tmp_path: Path) -> None:
    rows = [grid_metrics({}, "dfs-bid", trial) for trial in (0, 1)]
    folder = write_plain_run(tmp_path / "r", scenario(), {"dfs-bid": rows, "bid-sort": rows[:1]})
    found = compare([folder])
    assert found.differences(found.settings[0], "bid-sort", WELFARE) == [0.0]
    assert found.estimate(found.settings[0], "dfs-bid", "mean_tpot_ms").n == 0


def test_cells_without_a_result_are_known_by_their_settings(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID, absent={1: "no room", 4: None})
    found = compare([folder])
    holes = {setting.values: setting.missing.reason for setting in found.settings if setting.missing}
    assert holes == {(16, 0.9): "no room", (256, 0.1): "not run yet"}
    assert len(found.settings) == 6
    assert len(found.complete) == 4
    assert (
        found.settings[1].missing.command
        == "inference-auctions simulate toy.yaml --set trials=2 --set batching.size=16 --set workload.sharing=0.9"
    )


@pytest.mark.parametrize(
    ("values", "log"),
    [((32, 64, 128), True), ((10, 20, 30), False), ((0, 1, 10), False), ((1, 10), True), ((1, 2), False)],
)
def test_values_spaced_by_ratios_are_drawn_so(values: tuple[int, ...], log: bool) -> None:
    axis = Axis(key="k", values=values)
    assert (axis.numeric, axis.log) == (True, log)


def test_what_is_no_number_is_a_category() -> None:
    axis = Axis(key="dispatch.in_flight", values=(1, 4, None))
    assert (axis.numeric, axis.log, axis.words) == (False, False, ("1", "4", "null"))


def test_wrong_folders_and_baselines_are_refused(tmp_path: Path) -> None:
    folder = run(tmp_path, "r")
    with pytest.raises(ScenarioError, match="no such folder"):
        compare([tmp_path / "nowhere"])
    with pytest.raises(ScenarioError, match="neither file"):
        compare([tmp_path])
    with pytest.raises(ScenarioError, match="no folder"):
        compare([])
    with pytest.raises(ScenarioError, match='Did you mean "bid-sort"'):
        compare([folder], "bidsort")
    (folder / "summary.json").write_text("{", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"summary\.json:1"):
        compare([folder])
    with pytest.raises(ScenarioError, match="no finished trial"):
        compare([write_sweep(tmp_path / "s", {"batching.size": [16, 64]}, absent={0: None, 1: None})])

"""The verdict's sentences, and the front, on numbers made up by hand."""

from pathlib import Path

import pytest
from compare_kit import GRID, grid_metrics, scenario, write_plain_run, write_sweep
from hypothesis import given
from hypothesis import strategies as st

from sim.compare import Comparison, compare
from sim.compare_front import dominated, front_points, winners
from sim.compare_words import cautions, reading


def sweep(folder: Path, axes: dict = GRID, **extra: object) -> Comparison:
    return compare([write_sweep(folder / "s", axes, **extra)])


def test_the_verdict_says_who_wins_at_what_price_and_where_it_flips(tmp_path: Path) -> None:
    first, second = reading(sweep(tmp_path))
    assert first.startswith("bid-sort has the highest welfare at 4 of 6 settings, dfs-bid at 2;")
    # leads of 2 ± 12.7 and 14 ± 12.7: told at 256 only
    assert "its lead over the runner-up can be told from chance at 2 of its 4." in first
    # the trials average to 4 and 6; TTFT differs by 100 and 99; hit rate by 0.25
    assert "its welfare is no different as far as can be told: +5.0 pp (−7.7 to +17.7);" in first
    assert "the price: mean TTFT × 1.99, +100 ms (+93 to +106) and hit rate −25.0 pp (−25.0 to −25.0)." in first
    assert second.startswith("Over batching.size it flips: dfs-bid at 16, bid-sort at 64 to 256.")
    assert "workload.sharing" not in second


def test_no_flip_is_said_too(tmp_path: Path) -> None:
    found = sweep(tmp_path, {"batching.size": [64, 256]})
    assert "It does not flip: the winner is the same at every setting." in reading(found)[1]


def test_a_flip_that_takes_two_axes_is_said(tmp_path: Path) -> None:
    """b wins on one diagonal, a on the other; along either axis the two are even, which the first of them takes."""

    def metrics(settings: dict, schedule: str, trial: int) -> dict:
        sign = 1 if (settings["x"] == 1) == (settings["y"] == 1) else -1
        return {"welfare_pct_over_random": trial + (sign if schedule == "b" else 0.0)}

    found = sweep(tmp_path, {"x": [1, 2], "y": [1, 2]}, metrics=metrics, schedules=("a", "b"))
    assert "it takes a combination; see the map." in reading(found)[1]


def test_one_run_one_trial(tmp_path: Path) -> None:
    trials = {name: [grid_metrics({}, name, 0)] for name in ("dfs-bid", "bid-sort")}
    found = compare([write_plain_run(tmp_path / "r", scenario(), trials)])
    first, second = reading(found)
    assert first.startswith("bid-sort has the highest welfare, +11.0 % over a random order, though no difference to")
    assert "its welfare is +1.0 pp; the price: mean TTFT × 2.00, +100 ms and hit rate −25.0 pp. (One trial.)" in first
    assert "On welfare and mean TTFT at once, each has a setting" in second
    assert any(caution.startswith("One trial only somewhere") for caution in cautions(found))


def test_the_winner_as_baseline_is_set_against_the_next_best(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", {"batching.size": [64, 256]})
    assert "Against dfs-bid, on average" in reading(compare([folder], "bid-sort"))[0]


def test_nobody_to_compare_with(tmp_path: Path) -> None:
    found = sweep(tmp_path, {"batching.size": [16, 64]}, schedules=("dfs-bid",))
    assert reading(found) == ("Only dfs-bid was run: there is nobody to compare it with. See how it moves below.",)
    assert winners(found) == ()


def test_cautions_name_what_is_missing_unpaired_and_confounded(tmp_path: Path) -> None:
    axes = {"batching.size": [16, 64, 256], "workload.sharing": [0.1, 0.5, 0.9]}
    zipped = write_sweep(tmp_path / "z", axes, design="zip", absent={1: None})
    said = " ".join(cautions(compare([zipped])))
    assert "Few trials (n = 2)" in said
    assert "1 cell has no result" in said
    assert "batching.size changes together with workload.sharing" in said
    trials = {name: [grid_metrics({}, name, trial) for trial in (0, 1)] for name in ("a", "b")}
    runs = [
        write_plain_run(tmp_path / name, scenario([name], **changes), {name: trials[name]})
        for name, changes in (("a", {}), ("b", {"workload__sharing": 0.7}))
    ]
    assert "Not paired: a was not run at 1 setting." in " ".join(cautions(compare(runs)))
    assert reading(compare(runs))[0].startswith("No two of them were measured at the same setting")
    swept = write_sweep(tmp_path / "s", {"workload.sharing": [0.1, 0.9]})
    by_sharing = " ".join(cautions(compare([swept], "workload.sharing=0.1")))
    assert "Not paired: workload.sharing=0.9 and workload.sharing=0.1 met different requests" in by_sharing
    two = write_sweep(tmp_path / "t", {"batching.size": [16, 64], "backend.kv_tokens": [1, 2]}, design="zip")
    mixed = " ".join(cautions(compare([two], "batching.size=16")))
    assert "batching.size changes together with backend.kv_tokens" in mixed


def test_points_that_met_other_requests_do_not_beat_each_other(tmp_path: Path) -> None:
    """Two sharings, two fronts: at each, dfs-bid waits 100.5 ms at every size, bid-sort at 256 has most welfare."""
    points = front_points(sweep(tmp_path))
    best = {(point.contender, point.setting.values) for point in points if not point.dominated}
    dfs = {("dfs-bid", (size, sharing)) for size in (16, 64, 256) for sharing in (0.1, 0.9)}
    assert best == dfs | {("bid-sort", (256, sharing)) for sharing in (0.1, 0.9)}


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_front_is_what_no_point_beats(pairs: list[tuple[int, int]]) -> None:
    points = [(float(cost), float(worth), name) for name, (cost, worth) in enumerate(pairs)]

    def beats(one: tuple, other: tuple) -> bool:
        return one[0] <= other[0] and one[1] >= other[1] and one[:2] != other[:2]

    assert dominated(points) == {point[2] for point in points if any(beats(other, point) for other in points)}


def test_without_welfare_over_random_plain_welfare_decides(tmp_path: Path) -> None:
    trials = {"a": [{"welfare": 2.0}, {"welfare": 2.5}], "b": [{"welfare": 3.0}, {"welfare": 3.5}]}
    found = compare([write_plain_run(tmp_path / "r", scenario(["a", "b"]), trials)])
    assert "b has the highest welfare, 3.25" in reading(found)[0]
    assert "TTFT and hit rate were not measured." in reading(found)[0]
    assert front_points(found) == ()
    assert pytest.approx(1.0) == winners(found)[0].margin.mean

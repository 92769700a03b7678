import math
from typing import Any

import pytest

from sim.metrics import METRIC_NAMES
from sim.summary import summarise


def test_mean_error_and_paired_differences_by_hand() -> None:
    # a: 1, 2, 6 → mean 3, variance 7, se √(7/3). b − a: 1, 3, −1 → mean 1, variance 4, se 2/√3.
    trials = {"a": [{"m": 1.0}, {"m": 2.0}, {"m": 6.0}], "b": [{"m": 2.0}, {"m": 5.0}, {"m": 5.0}]}
    summary = summarise(trials, {"a": {"ok": 3}, "b": {"ok": 2, "error": 1}}, {"seed": 0})
    a, b = summary["schedules"]["a"], summary["schedules"]["b"]
    assert a["m"] == {"mean": 3.0, "se": pytest.approx(math.sqrt(7 / 3)), "n": 3}
    assert b["paired"]["m"] == {"diff": 1.0, "se": pytest.approx(2 / math.sqrt(3)), "n": 3}
    assert a["paired"]["m"]["diff"] == 0.0
    assert b["statuses"] == {"ok": 2, "error": 1}
    assert a["trials"] == trials["a"]


def test_what_was_never_measured_is_null_and_counts_for_nothing() -> None:
    trials = {"a": [{"m": None}, {"m": 4.0}], "b": [{"m": 3.0}, {"m": None}]}
    summary = summarise(trials, {}, {})
    assert summary["schedules"]["a"]["m"] == {"mean": 4.0, "se": None, "n": 1}
    assert summary["schedules"]["b"]["paired"]["m"] == {"diff": None, "se": None, "n": 0}


@pytest.mark.parametrize(("others", "names"), [({}, METRIC_NAMES), ({"b": [{"m": 1.0}]}, ("m",))])
def test_a_schedule_without_a_finished_trial_has_every_metric_unmeasured(others: Any, names: tuple[str, ...]) -> None:
    summary = summarise({**others, "a": []}, {"a": {"incomplete": 5}}, {})
    unmeasured = {"mean": None, "se": None, "n": 0}
    assert summary["schedules"]["a"] == {
        **dict.fromkeys(names, unmeasured),
        "statuses": {"incomplete": 5},
        "trials": [],
        "paired": {name: {"diff": None, "se": None, "n": 0} for name in names},
    }


def test_the_gap_to_bid_sort_is_paired_by_hand() -> None:
    # 1 − 8/10 = 0.2 and 1 − 9/10 = 0.1: mean 0.15, variance 0.005, se √0.0025 = 0.05; a trial without welfare is none.
    ours, best = [{"welfare": 8.0}, {"welfare": 9.0}, {"welfare": None}], [{"welfare": 10.0}] * 3
    summary = summarise({"dfs-bid": ours, "bid-sort": best}, {}, {})
    assert summary["gap_to_bid_sort"] == {"mean": pytest.approx(0.15), "se": pytest.approx(0.05), "n": 2}
    assert "gap_to_bid_sort" not in summarise({"dfs-bid": ours, "no-sort": best}, {}, {})
    assert "gap_to_bid_sort" not in summarise({"dfs-bid": ours, "bid-sort": [{"welfare": 0.0}]}, {}, {})

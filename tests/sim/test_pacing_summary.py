"""The pacing part of a summary, trial by trial and auction by auction: two trials of three auctions, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mechanism.prompts import FloatArray
from sim.pacing import PacedCell
from sim.pacing_summary import summarise_pacing


def cell(trial: int, welfare: list[float], best: list[float] | None, bound: list[float] | None) -> PacedCell:
    def array(numbers: list[float] | None) -> FloatArray | None:
        return None if numbers is None else np.array(numbers)

    return PacedCell(
        schedule="paced", trial=trial, welfare=np.array(welfare), best=array(best), bound=array(bound), users=(),
        agents=(), overspent=0,
    )  # fmt: skip


def test_every_auction_and_all_up_to_it_have_a_mean_and_an_error_over_trials() -> None:
    one = cell(0, [9.0, 6.0, 10.0], [10.0, 10.0, 10.0], [0.5, 0.7, 0.5])
    two = cell(1, [8.0, 10.0, 0.0], [10.0, 10.0, 0.0], [0.5, 0.5, 1.0])  # nothing could be had in its last auction
    found = summarise_pacing([one, two])["schedules"]["paced"]
    auctions = found["auctions"]
    assert auctions["auction"] == [0, 1, 2]
    each, so_far = auctions["welfare_vs_truthful_pct"], auctions["cumulative_welfare_vs_truthful_pct"]
    assert each["mean"] == pytest.approx([-15.0, -20.0, 0.0])
    assert each["se"][:2] == pytest.approx([5.0, 20.0])
    assert (each["se"][2], each["n"]) == (None, [2, 2, 1])
    # one: 9/10, 15/20, 25/30; two: 8/10, 18/20, 18/20
    assert so_far["mean"] == pytest.approx([-15.0, -17.5, (-50 / 3 - 10) / 2])
    assert auctions["guaranteed_pct"]["mean"] == pytest.approx([-50.0, -40.0, -50.0])
    assert [trial["welfare_vs_truthful_pct"] for trial in found["trials"]] == pytest.approx([-50 / 3, -10.0])
    assert [trial["bound_violations"] for trial in found["trials"]] == [1, 0]  # 6 of 10 where 7 are guaranteed


def test_no_best_order_no_series() -> None:
    found = summarise_pacing([cell(0, [1.0], None, None)])["schedules"]["paced"]
    assert found["auctions"] is None
    assert found["trials"] == [
        {"welfare_vs_truthful_pct": None, "guaranteed_pct": None, "bound_violations": 0, "overspent": 0}
    ]


def test_long_runs_keep_a_limited_number_of_auctions() -> None:
    many = cell(0, [1.0] * 1000, [2.0] * 1000, [0.5] * 1000)
    at = summarise_pacing([many])["schedules"]["paced"]["auctions"]["auction"]
    assert (len(at), at[0], at[-1]) == (240, 0, 999)

"""When a number agrees: by hand, with Student's t for three degrees of freedom (3.182446) and for one (12.706205)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.reproduce.claims import Part, Range, about_ratio
from sim.reproduce.judging import judge
from sim.reproduce.readings import Readings

NOTHING = Readings("serial", {})


def part(low: float, high: float, *columns: list[float], every: bool = False) -> Part:
    named = tuple((f"point {k}", lambda _, trials=trials: np.array(trials)) for k, trials in enumerate(columns))
    return Part(label="", stated="", within=Range(low, high), quantities=named, unit="%", every=every)


def test_a_mean_inside_whose_interval_covers_the_range_is_not_resolved() -> None:
    found = judge(part(1.5, 2.5, [1.0, 3.0]), NOTHING)
    assert found.verdict == "yes, not resolved"
    assert found.found.low == pytest.approx(2 - 12.706205)  # mean 2, se 1


def test_an_interval_may_pass_one_end_of_the_range() -> None:
    trials = [1.0, 2.0, 3.0, 4.0]  # 2.5 ± 3.182446·√(5/12) = 0.4457 … 4.5543
    assert judge(part(2.4, 4.56, trials), NOTHING).verdict == "yes"
    assert judge(part(0.44, 2.6, trials), NOTHING).verdict == "yes"
    assert judge(part(2.4, 4.55, trials), NOTHING).verdict == "yes, not resolved"
    assert judge(part(0.45, 2.6, trials), NOTHING).verdict == "yes, not resolved"


def test_a_claim_has_the_worst_verdict_of_its_points() -> None:
    clear, open_, outside = [2.0, 2.1, 1.9], [1.0, 2.0, 3.0], [1.0, 5.0, 3.3]
    assert judge(part(1.5, 2.5, clear, open_), NOTHING).at == "point 1"
    assert judge(part(1.5, 2.5, open_, outside, clear), NOTHING).verdict == "cannot tell"


def test_of_a_range_with_one_end_the_interval_must_not_pass_it() -> None:
    trials = [1.0, 2.0, 3.0, 4.0]  # 0.4457 … 4.5543
    assert judge(part(0.44, math.inf, trials), NOTHING).verdict == "yes"
    assert judge(part(0.45, math.inf, trials), NOTHING).verdict == "yes, not resolved"
    assert judge(part(-math.inf, 4.55, trials), NOTHING).verdict == "yes, not resolved"
    assert judge(part(-math.inf, 4.56, trials), NOTHING).verdict == "yes"


def test_a_mean_outside_that_the_interval_reaches_cannot_be_told() -> None:
    # mean 2.5, s² = 5/3, se = √(5/12): the interval ends at 2.5 + 3.182446·0.645497 = 4.554
    assert judge(part(4.5, 5.0, [1.0, 2.0, 3.0, 4.0]), NOTHING).verdict == "cannot tell"
    assert judge(part(4.6, 5.0, [1.0, 2.0, 3.0, 4.0]), NOTHING).verdict == "no"


def test_three_trials_of_the_paper_may_explain_a_no() -> None:
    # a mean of three more trials: 2.5 ± 3.182446·√(5/3)·√(1/4 + 1/3) = 2.5 ± 3.138
    near = judge(part(5.6, 6.0, [1.0, 2.0, 3.0, 4.0]), NOTHING)
    far = judge(part(5.7, 6.0, [1.0, 2.0, 3.0, 4.0]), NOTHING)
    assert (near.verdict, near.by_chance, far.verdict, far.by_chance) == ("no", True, "no", False)


def test_the_first_three_trials_are_shown_where_there_are_more() -> None:
    found = judge(part(0, 9, [1.0, 2.0, 3.0, 6.0]), NOTHING)
    assert found.first_three is not None
    assert (found.first_three.mean, found.first_three.n, found.found.mean) == (2.0, 3, 3.0)
    assert judge(part(0, 9, [1.0, 2.0, 3.0]), NOTHING).first_three is None


def test_one_trial_cannot_be_told_and_neither_can_none() -> None:
    assert judge(part(0, 9, [5.0]), NOTHING).verdict == "cannot tell"
    assert judge(part(0, 9, [math.nan, math.nan]), NOTHING).verdict == "cannot tell"
    assert judge(part(0, 9, [math.nan], every=True), NOTHING).verdict == "cannot tell"


def test_of_several_points_the_worst_verdict_is_shown_then_the_farthest() -> None:
    inside, unclear, wrong = [2.0, 2.0, 2.0], [3.0, 5.0, 4.0], [4.0, 4.0, 4.001]
    found = judge(part(1.0, 3.0, inside, unclear, wrong), NOTHING)
    assert (found.at, found.verdict) == ("point 2", "no")
    assert judge(part(1.0, 3.0, [1.9, 1.9, 1.9], inside), NOTHING).at == "point 0"


def test_a_theorem_must_hold_in_every_trial_and_the_worst_is_shown() -> None:
    found = judge(part(-math.inf, 50.0, [20.0, 51.0, 30.0], every=True), NOTHING)
    assert (found.verdict, found.found.mean, found.found.low) == ("no", 51.0, None)
    assert judge(part(0.0, 0.0, [0.0, 0.0], every=True), NOTHING).verdict == "yes"
    assert judge(part(0.0, 0.0, [0.0, 1.0], every=True), NOTHING).verdict == "no"


def test_a_ratio_has_a_tenth_either_way() -> None:
    assert about_ratio(2.4) == Range(2.16, 2.64)

"""What a live server's timestamps say of the way between it and its clients."""

from __future__ import annotations

import pytest

from backends._answers import Answer
from backends._front_end_times import front_end_times

MS = 1_000_000


def answer(
    sent_ms: float, first_ms: float, entered_s: float | None = 100.0, prefilled_s: float | None = 100.01
) -> Answer:
    """By our clock in ms, by the server's in s."""
    sent_ns, first_ns = round(sent_ms * MS), round(first_ms * MS)
    return Answer(0, sent_ns=sent_ns, first_token_ns=first_ns, entered_s=entered_s, prefilled_s=prefilled_s)


def test_the_way_is_what_the_server_does_not_account_for() -> None:
    # 10 ms inside the server: 13 − 0 − 10, 15 − 1 − 10 and 30 − 2 − 10
    found = front_end_times([answer(0, 13), answer(1, 15), answer(2, 30)])
    assert found["request_overhead_ms"] == pytest.approx(4.0)


def test_answers_of_one_pass_follow_each_other() -> None:
    one_pass = [answer(0, 20), answer(1, 21), answer(2, 24)]  # (24 − 20) / 2
    another = [answer(3, 40, prefilled_s=100.03), answer(4, 41, prefilled_s=100.0304)]
    alone = [answer(5, 60, prefilled_s=100.05)]
    assert front_end_times([*another, *alone, *one_pass])["request_gap_ms"] == pytest.approx((2.0 + 1.0) / 2)


def test_a_list_tells_neither() -> None:
    assert front_end_times([answer(0, 13), answer(0, 13)]) == {}


def test_a_server_that_dates_nothing_says_nothing() -> None:
    assert front_end_times([answer(0, 13, prefilled_s=None), answer(1, 14, prefilled_s=None)]) == {}
    assert set(front_end_times([answer(0, 13, entered_s=None), answer(1, 14, entered_s=None)])) == {"request_gap_ms"}


def test_clocks_that_disagree_make_no_negative_way() -> None:
    assert front_end_times([answer(0, 5)])["request_overhead_ms"] == 0.0

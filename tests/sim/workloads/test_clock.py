"""CASES.md C10 and C13: times in dates, in other units, on two origins."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.workloads._clock import trace_clock

WHERE = "t.jsonl:{line}: timestamp"


def clock(times: list[float], unit_s: float = 1.0) -> tuple[list[int], tuple[str, ...]]:
    lines = np.arange(1, len(times) + 1)
    arrival_ns, warnings = trace_clock(np.array(times), unit_s, lines, WHERE)
    return arrival_ns.tolist(), warnings


def test_times_keep_their_origin_and_their_order() -> None:
    assert clock([27.482, 3.0]) == ([27_482_000_000, 3_000_000_000], ())
    assert clock([27482.0], 1e-3) == ([27_482_000_000], ())
    assert clock([]) == ([], ())


def test_dates_count_from_the_first_with_a_warning() -> None:
    arrival_ns, warnings = clock([1_773_066_274.5, 1_773_066_272.25])
    assert arrival_ns == [2_250_000_000, 0]
    assert warnings == ("recorded times are dates: they are counted from the first, 1773066272.25",)
    assert clock([1.773066274e12, 1.773066275e12], 1e-3)[0] == [0, 1_000_000_000]


@pytest.mark.parametrize("unit_s", [1.0, 1e-3])
def test_microseconds_read_in_another_unit_are_refused(unit_s: float) -> None:
    with pytest.raises(ScenarioError, match=r"t.jsonl:2: timestamp: found .* which is the year .*units of") as caught:
        clock([1.79e15 - 1e6, 1.79e15], unit_s)
    assert caught.value.exit_code == 2


def test_times_on_two_origins_are_refused_with_both() -> None:
    with pytest.raises(ScenarioError, match=r"t.jsonl:3: timestamp: found 1773066274, and 5 on line 2; .*one origin"):
        clock([7.0, 5.0, 1_773_066_274.0])


@pytest.mark.parametrize(
    ("first", "unit_s", "said"),
    [
        (1.7e9, 1e-3, "times are taken in units of 0.001 s, but 1700000000 s would be a date of 2023"),
        (1.7e12, 1e-6, "times are taken in units of 1e-06 s, but 1700000000000 ms would be a date of 2023"),
        (1.7e12, 1e-9, "times are taken in units of 1e-09 s, but 1700000000000 ms would be a date of 2023"),
    ],
)
def test_dates_in_another_unit_are_pointed_out(first: float, unit_s: float, said: str) -> None:
    _, (warning,) = clock([first, first + 10], unit_s)
    assert warning.startswith(said)


def test_an_hour_of_milliseconds_is_no_date() -> None:
    assert clock([0.0, 3.6e6], 1e-3)[1] == ()
    assert clock([5e8, 6e8], 1e-3)[1] == ()

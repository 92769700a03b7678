import math

import pytest

from reports.series import Estimate
from reports.text import Unit, difference, estimate, mean_text, number, se_text, unit_of_ms


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not reported"),
        (math.nan, "not reported"),
        (math.inf, "not reported"),
        (0.0, "0"),
        (-0.0, "0"),
        (12.0, "12"),
        (12.345678, "12.35"),
        (-0.00123456, "−0.001235"),
        (1234567.8, "1,234,568"),
        (-1e-12, "−1.00e−12"),
    ],
)
def test_a_number_has_four_digits_and_words_for_nothing(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Estimate(36.1962, 0.3349, 3), "36.20 ± 0.33 s"),
        (Estimate(36.1962, 12.0, 3), "36 ± 12 s"),
        (Estimate(36.1962, 0.0, 3), "36.20 ± 0 s"),
        (Estimate(36.1962, 1e-14, 3), "36.20 ± 0 s"),
        (Estimate(36.1962, None, 1), "36.20 s"),
        (Estimate(None, None, 0), "not reported"),
    ],
)
def test_the_error_decides_the_digits(found: Estimate, text: str) -> None:
    assert estimate(found, Unit("s")) == text


def test_a_difference_is_signed_in_its_own_unit() -> None:
    share = Unit("%", 100.0, delta="pp")
    assert difference(Estimate(0.0512, 0.0031, 3), share) == "+5.12 ± 0.31 pp"
    assert difference(Estimate(0.0, 0.0, 3), share) == "0 ± 0 pp"
    assert difference(Estimate(None, None, 0), share) == "not reported"


def test_mean_and_error_apart_agree_with_both_together() -> None:
    found, unit = Estimate(0.36, 0.0022, 3), Unit("%", 100.0)
    assert (mean_text(found, unit), se_text(found, unit)) == ("36.00 %", "± 0.22 · n = 3")
    assert se_text(Estimate(None, None, 0), unit) == ""


def test_a_unit_bounds_the_decimals_and_says_when_an_error_is_below_them() -> None:
    share = Unit("%", 100.0, delta="pp").for_values([0.904, 0.448, None])
    assert share.decimals == 2
    assert estimate(Estimate(0.903774, 0.00026, 3), share) == "90.38 ± 0.03 %"
    assert difference(Estimate(0.0001894, 0.0000043, 3), share) == "+0.02 ± <0.01 pp"
    assert difference(Estimate(-0.00001, 0.0000043, 3), share) == "0.00 ± <0.01 pp"
    assert se_text(Estimate(0.9, 1e-6, 3), share) == "± <0.01 · n = 3"


def test_small_values_keep_four_digits() -> None:
    assert estimate(Estimate(0.0034126, None, 1), Unit("s").for_values([0.0034126])) == "0.003413 s"
    assert Unit("s").for_values([4775.36]).decimals == 2
    assert Unit("s").for_values([None]).decimals == 2


def test_milliseconds_become_seconds_from_ten_seconds_on() -> None:
    assert unit_of_ms([9_999.0, None]).name == "ms"
    assert unit_of_ms([1.0, 10_000.0]) == Unit("s", 1e-3)
    assert unit_of_ms([None]).name == "ms"

"""Robust bounded fits recover what made the data, and say what the data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

from sim.fitting import Parameter, UnidentifiedError, fit_relative

X = np.linspace(1.0, 20.0, 24)


def line(values):  # type: ignore[no-untyped-def]
    return values["base"] + values["slope"] * X


PARAMETERS = (Parameter(name="slope", start=1.0), Parameter(name="base", start=1.0, neutral=None))


def test_a_line_is_recovered_inside_its_intervals() -> None:
    measured = (3.0 + 0.5 * X) * (1 + 0.01 * np.random.default_rng(3).standard_normal(len(X)))
    found = fit_relative(line, measured, PARAMETERS)
    assert found.unidentified == {}
    for name, truth in (("base", 3.0), ("slope", 0.5)):
        low, high = found.intervals[name]
        assert low <= truth <= high
        assert high - low < 0.2 * truth


def test_one_wild_measurement_moves_little() -> None:
    measured = 3.0 + 0.5 * X
    measured[7] *= 10
    found = fit_relative(line, measured, PARAMETERS)
    assert found.values["base"] == pytest.approx(3.0, rel=0.01)
    assert found.values["slope"] == pytest.approx(0.5, rel=0.01)


def test_bounds_hold() -> None:
    found = fit_relative(line, 5.0 - 0.05 * X, PARAMETERS)
    assert found.values["slope"] >= 0


def test_what_the_data_do_not_feel_is_held_and_said() -> None:
    both = (Parameter(name="more", start=1.0), *PARAMETERS)
    found = fit_relative(lambda values: line(values) + values["more"], 3.0 + 0.5 * X, both)
    assert found.values["more"] == 0.0
    assert set(found.unidentified) == {"more"}
    assert "more" not in found.intervals
    assert found.values["base"] == pytest.approx(3.0)


def test_too_few_points_give_coefficients_up_instead_of_inventing_them() -> None:
    found = fit_relative(lambda values: line(values)[:2], (3.0 + 0.5 * X)[:2], PARAMETERS)
    assert found.unidentified == {"slope": "2 grid points cannot determine 2 coefficients; held at 0"}
    assert set(found.intervals) == {"base"}


def test_no_points_fit_nothing() -> None:
    with pytest.raises(UnidentifiedError, match="base: 0 grid points cannot determine 1 coefficients"):
        fit_relative(lambda values: line(values)[:0], np.zeros(0), PARAMETERS)

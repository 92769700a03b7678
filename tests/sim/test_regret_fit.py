import numpy as np
import pytest
from scipy.stats import linregress, t

from sim.regret_fit import fit_exponent


def test_equals_a_textbook_regression() -> None:
    horizons = np.array([100, 300, 1000, 3000, 10000])
    regrets = 0.3 * horizons**0.55 * np.exp([0.1, -0.05, 0.02, -0.1, 0.03])
    found = fit_exponent(list(zip(horizons.tolist(), regrets.tolist(), strict=True)))
    line = linregress(np.log(horizons), np.log(regrets))
    width = t.ppf(0.975, 3) * line.stderr
    assert found is not None
    assert found["exponent"] == pytest.approx(line.slope)
    assert found["interval"] == pytest.approx([line.slope - width, line.slope + width])


def test_two_horizons_are_too_few() -> None:
    assert fit_exponent([(100, 1.0), (1000, 2.0), (100, 1.1)]) is None
    assert fit_exponent([]) is None

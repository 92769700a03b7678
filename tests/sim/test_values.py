from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanism.prompts import FloatArray, IntArray
from sim.errors import ScenarioError
from sim.rng import stream
from sim.values import KINDS, Constant, Lognormal, Pareto, Uniform, normals

STREAMS = partial(stream, 0, 0)
PAIRS = np.repeat(np.arange(20_000), 2)

#: Each distribution, and scipy's.
KNOWN: list[tuple[Any, Any]] = [
    (Pareto, stats.lomax(1.5, loc=1.0)),
    (partial(Pareto, shape=3.0, offset=0.0), stats.lomax(3.0)),
    (partial(Uniform, low=2.0, high=5.0), stats.uniform(2.0, 3.0)),
    (partial(Lognormal, median=3.0, sigma=0.5), stats.lognorm(0.5, scale=3.0)),
]


class Fixed:
    """Generators that draw the given normals."""

    def __init__(self, z: FloatArray) -> None:
        self._z = z

    def standard_normal(self, n: int) -> FloatArray:
        assert n == len(self._z)
        return self._z


@pytest.mark.parametrize(("values", "known"), KNOWN)
@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_one_value_of_a_cluster_has_the_distribution_whatever_the_correlation(
    values: Any, known: Any, correlation: float
) -> None:
    drawn = values(correlation=correlation).draw(PAIRS, STREAMS)
    assert stats.kstest(drawn[::2], known.cdf).pvalue > 0.01


def test_pareto_is_numpys_plus_the_offset() -> None:
    numpys = np.random.default_rng(1).pareto(1.5, 20_000) + 1.0
    ours = Pareto().draw(np.arange(20_000), STREAMS)
    assert stats.ks_2samp(numpys, ours).pvalue > 0.01
    assert ours.min() >= 1.0


@pytest.mark.parametrize(("values", "known"), KNOWN)
def test_values_are_exact_far_into_both_tails(values: Any, known: Any) -> None:
    z = np.array([-8.2, -3.0, -0.1, 0.0, 0.1, 3.0, 8.2])
    ours = values().draw(np.arange(7), lambda _: Fixed(z))
    exact = np.where(z > 0, known.isf(stats.norm.sf(z)), known.ppf(stats.norm.cdf(z)))
    np.testing.assert_allclose(ours, exact, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("correlation", [0.25, 0.5, 0.9])
def test_the_copula_gives_spearmans_correlation(correlation: float) -> None:
    drawn = Pareto(correlation=correlation).draw(PAIRS, STREAMS)
    found = stats.spearmanr(drawn[::2], drawn[1::2]).statistic
    # rank correlation of a Gaussian copula: (6/π)·arcsin(ρ/2)
    assert found == pytest.approx(6 / np.pi * np.arcsin(correlation / 2), abs=0.03)


def test_clusters_are_independent_of_each_other() -> None:
    drawn = Pareto(correlation=0.9).draw(PAIRS, STREAMS)
    assert abs(stats.spearmanr(drawn[1:-1:2], drawn[2::2]).statistic) < 0.03


def test_full_correlation_gives_a_cluster_one_value() -> None:
    drawn = Pareto(correlation=1.0).draw(PAIRS, STREAMS)
    np.testing.assert_array_equal(drawn[::2], drawn[1::2])
    assert len(np.unique(drawn)) == 20_000


def test_a_clusters_part_does_not_depend_on_who_else_is_there() -> None:
    full, half = normals(np.array([0, 1, 2, 3]), 1.0, STREAMS), normals(np.array([1, 1]), 1.0, STREAMS)
    assert half.tolist() == [full[1], full[1]]


def test_without_correlation_the_own_part_is_all() -> None:
    cluster = np.zeros(5, dtype=np.int64)
    expected = stream(0, 0, "values").standard_normal(5)
    np.testing.assert_array_equal(normals(cluster, 0.0, STREAMS), expected)
    np.testing.assert_allclose(normals(cluster, 1e-18, STREAMS), expected, atol=1e-8)


def test_constant_values() -> None:
    assert Constant(value=2.5).draw(np.arange(3), STREAMS).tolist() == [2.5] * 3


def test_an_empty_interval_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"high: found 1.0; expected at least low, which is 2.0"):
        Uniform(low=2.0, high=1.0)


@pytest.mark.parametrize("cluster", [np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)])
def test_no_request_and_one_request(cluster: IntArray) -> None:
    assert len(Pareto(correlation=0.5).draw(cluster, STREAMS)) == len(cluster)


def test_kinds_have_the_names_of_the_specification() -> None:
    assert {"pareto", "uniform", "lognormal", "constant", "from-trace"} <= set(KINDS)

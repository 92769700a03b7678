from functools import partial

import numpy as np
import pytest
from scipy import stats

from sim.rng import stream
from sim.workloads._outputs import LognormalTokens, UniformTokens, draw_output_tokens

RNG = partial(stream, 0, 0, "workload-outputs")


def test_an_integer_is_every_length() -> None:
    assert draw_output_tokens(7, 3, RNG()).tolist() == [7, 7, 7]


def test_lognormal_lengths_are_rounded_and_cut_at_both_ends() -> None:
    lengths = draw_output_tokens(LognormalTokens(median=100, sigma=1.0, max_tokens=1000), 50_000, RNG())
    assert lengths.dtype == np.int64
    assert (lengths.min() >= 1, lengths.max()) == (True, 1000)
    assert np.median(lengths) == pytest.approx(100, rel=0.02)
    cut = stats.lognorm(1.0, scale=100).sf(999.5)
    assert (lengths == 1000).mean() == pytest.approx(cut, rel=0.1)
    assert set(draw_output_tokens(LognormalTokens(median=0.01, sigma=0.1), 10, RNG()).tolist()) == {1}


def test_uniform_lengths_reach_both_ends() -> None:
    lengths = draw_output_tokens(UniformTokens(low=3, high=6), 8000, RNG())
    assert stats.chisquare(np.bincount(lengths)[3:]).pvalue > 0.01
    with pytest.raises(ValueError, match=r"low ≤ high, not \[3, 2\]"):
        UniformTokens(low=3, high=2)

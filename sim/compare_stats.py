"""Means with intervals over trials: Student's t, and a seeded bootstrap beside it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CONFIDENCE", "RESAMPLES", "Interval", "bootstrap_intervals", "interval_of"]

FloatArray = npt.NDArray[np.float64]

CONFIDENCE = 0.95
#: Resamples of a bootstrap interval: 50 in each tail.
RESAMPLES = 2000
_SEED = 0
#: Spread that is rounding of doubles, as a share of the numbers.
_DUST = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over n trials with its standard error and 95 % t interval; None where there is none (n < 2)."""

    mean: float | None
    se: float | None
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def told(self) -> bool | None:
        """Whether the interval excludes 0; None where there is no interval."""
        return None if self.low is None or self.high is None else not self.low <= 0.0 <= self.high


def interval_of(values: Iterable[float | None]) -> Interval:
    """mean ± t(0.975, n − 1)·s/√n of the values that are there.

    >>> found = interval_of([1.0, 3.0, None])
    >>> found.mean, found.se, found.n, round(found.low, 3), round(found.high, 3)
    (2.0, 1.0, 2, -10.706, 14.706)
    >>> interval_of([5.0])
    Interval(mean=5.0, se=None, n=1, low=None, high=None)
    """
    there = [value for value in values if value is not None]
    n = len(there)
    if n == 0:
        return Interval(None, None, 0)
    mean = math.fsum(there) / n
    if n == 1:
        return Interval(mean, None, 1)
    se = math.sqrt(math.fsum((value - mean) ** 2 for value in there) / (n - 1) / n)
    if se <= _DUST * abs(mean):
        return Interval(mean, 0.0, n, mean, mean)
    half = _t_quantile(n - 1) * se
    return Interval(mean, se, n, mean - half, mean + half)


def bootstrap_intervals(samples: Sequence[Sequence[float]]) -> list[tuple[float, float] | None]:
    """95 % percentile bootstrap intervals of means, one a sample; None for fewer than two values.

    `scipy.stats.bootstrap` with `RESAMPLES` resamples and a fixed seed, samples of one length together.
    O(RESAMPLES · Σ lengths). With a handful of values the interval is too narrow: it never leaves their range.
    """
    from scipy.stats import bootstrap

    found: list[tuple[float, float] | None] = [None] * len(samples)
    by_length: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        by_length.setdefault(len(sample), []).append(place)
    for length, places in by_length.items():
        if length < 2:
            continue
        table = np.array([samples[place] for place in places], dtype=np.float64)
        result = bootstrap(
            (table,),
            np.mean,
            axis=-1,
            vectorized=True,
            method="percentile",
            confidence_level=CONFIDENCE,
            n_resamples=RESAMPLES,
            batch=max(1, 1_000_000 // table.size),
            rng=np.random.default_rng(_SEED),
        )
        ends = np.column_stack([result.confidence_interval.low, result.confidence_interval.high])
        for place, (low, high) in zip(places, ends.tolist(), strict=True):
            found[place] = (low, high)
    return found


@functools.cache
def _t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t; kept, for a page asks for the same few again and again."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))

"""What requests are worth: the `values:` block.

A value is drawn per request, independently, whoever owns it; or, if `per` says so, once for each cluster or user.
`correlation` ρ couples the requests of a cluster through a Gaussian copula: z_r = √ρ·g_cluster(r) + √(1−ρ)·ε_r and
v_r = F⁻¹(Φ(z_r)), so the distribution F of a single value is the same for every ρ, and at ρ = 1 a cluster has one
value. The normals do not depend on ρ or F: sweeping either moves every value smoothly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from mechanism.prompts import FloatArray, IntArray
from sim.errors import ScenarioError
from sim.quantities import CountOrZero, Money, PositiveMoney, Spread

__all__ = ["KINDS", "Constant", "Drawn", "FromTrace", "Lognormal", "Pareto", "Uniform", "Values", "normals"]

Correlation = Annotated[float, Field(ge=0, le=1)]
OnlyCluster = CountOrZero | None
Per = Literal["request", "cluster", "user"]
Streams = Callable[[str], np.random.Generator]


@dataclass(frozen=True, kw_only=True)
class Pareto:
    """Pareto values: numpy's `pareto(shape)` (which starts at 0) plus `offset`. The paper's is shape 1.5, offset 1.

    F⁻¹(Φ(z)) = Φ(−z)^(−1/shape) − 1 + offset, from the upper tail, where all the weight is.

    Attributes
    ----------
    shape : tail index; at or below 2 the variance is infinite.
    offset : the smallest value.
    correlation : ρ of the values inside a cluster, 0 to 1.
    per : what has a value of its own: a request, a cluster (a star, a chain, a tree, a session) or a user.
    only_cluster : zero all values but those of this cluster.
    """

    shape: Annotated[float, Field(ge=1e-3, le=1e6)] = 1.5
    offset: Money = 1.0
    correlation: Correlation = 0.0
    per: Per = "request"
    only_cluster: OnlyCluster = None
    kind: ClassVar[str] = "pareto"

    def __post_init__(self) -> None:
        _check_coupling(self.correlation, self.per)

    def draw(self, cluster: IntArray, rng_stream: Streams) -> FloatArray:
        """(n,) values."""
        z = normals(cluster, self.correlation, rng_stream)
        values: FloatArray = _upper_tail(z) ** (-1.0 / self.shape) - 1.0 + self.offset
        return values


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Uniform values.

    Attributes
    ----------
    low, high : the ends of the interval.
    correlation : ρ of the values inside a cluster, 0 to 1.
    per : what has a value of its own: a request, a cluster (a star, a chain, a tree, a session) or a user.
    only_cluster : zero all values but those of this cluster.
    """

    low: Money = 0.0
    high: Money = 1.0
    correlation: Correlation = 0.0
    per: Per = "request"
    only_cluster: OnlyCluster = None
    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        _check_coupling(self.correlation, self.per)
        if self.low > self.high:
            raise ScenarioError("high", str(self.high), f"at least low, which is {self.low}")

    def draw(self, cluster: IntArray, rng_stream: Streams) -> FloatArray:
        """(n,) values."""
        z = normals(cluster, self.correlation, rng_stream)
        values: FloatArray = self.high - (self.high - self.low) * _upper_tail(z)
        return values


@dataclass(frozen=True, kw_only=True)
class Lognormal:
    """Lognormal values: median·exp(sigma·z).

    Attributes
    ----------
    median : half the values lie below it.
    sigma : standard deviation of the logarithm.
    correlation : ρ of the values inside a cluster, 0 to 1.
    per : what has a value of its own: a request, a cluster (a star, a chain, a tree, a session) or a user.
    only_cluster : zero all values but those of this cluster.
    """

    median: PositiveMoney = 1.0
    sigma: Spread = 1.0
    correlation: Correlation = 0.0
    per: Per = "request"
    only_cluster: OnlyCluster = None
    kind: ClassVar[str] = "lognormal"

    def __post_init__(self) -> None:
        _check_coupling(self.correlation, self.per)

    def draw(self, cluster: IntArray, rng_stream: Streams) -> FloatArray:
        """(n,) values."""
        values: FloatArray = self.median * np.exp(self.sigma * normals(cluster, self.correlation, rng_stream))
        return values


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The same value for every request.

    Attributes
    ----------
    value : it.
    only_cluster : zero all values but those of this cluster.
    """

    value: Money = 1.0
    only_cluster: OnlyCluster = None
    kind: ClassVar[str] = "constant"
    per: ClassVar[Per] = "request"

    def draw(self, cluster: IntArray, _rng_stream: Streams) -> FloatArray:
        """(n,) values."""
        return np.full(len(cluster), self.value)


@dataclass(frozen=True, kw_only=True)
class FromTrace:
    """The recorded values.

    Attributes
    ----------
    only_cluster : zero all values but those of this cluster.
    """

    only_cluster: OnlyCluster = None
    kind: ClassVar[str] = "from-trace"


Drawn = Pareto | Uniform | Lognormal | Constant
Values = Drawn | FromTrace

KINDS: dict[str, type[Values]] = {cls.kind: cls for cls in (Pareto, Uniform, Lognormal, Constant, FromTrace)}


def normals(cluster: IntArray, correlation: float, rng_stream: Streams) -> FloatArray:
    """(n,) standard normals with correlation ρ inside a cluster, 0 between clusters."""
    own = rng_stream("values").standard_normal(len(cluster))
    if correlation == 0.0 or len(cluster) == 0:
        return own
    common = rng_stream("values-clusters").standard_normal(int(cluster.max()) + 1)[cluster]
    mixed: FloatArray = math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * own
    return mixed


def _check_coupling(correlation: float, per: Per) -> None:
    if correlation > 0 and per != "request":
        raise ScenarioError("correlation", str(correlation), f"0: a value for each {per} is all the coupling there is")


def _upper_tail(z: FloatArray) -> FloatArray:
    """Φ(−z), accurate to the last digit far out in the tail; ~0.1 µs an element, without scipy."""
    scaled = (z * math.sqrt(0.5)).tolist()
    return 0.5 * np.fromiter(map(math.erfc, scaled), dtype=np.float64, count=len(scaled))

"""How many tokens requests generate: an integer, or a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field

from mechanism.prompts import IntArray
from sim.parameters import STRICT
from sim.quantities import LengthTokens, Spread

__all__ = ["LognormalTokens", "OutputTokens", "UniformTokens", "draw_output_tokens"]


@dataclass(frozen=True, kw_only=True)
class LognormalTokens:
    """Lognormal lengths, rounded, at least 1.

    Attributes
    ----------
    median : half the lengths lie below it.
    sigma : standard deviation of the logarithm.
    max_tokens : longer draws are cut to this.
    """

    kind: Literal["lognormal"] = "lognormal"
    median: Annotated[float, Field(gt=0, le=1e8)]
    sigma: Spread
    max_tokens: LengthTokens = 4096

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    def draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n,) int64."""
        lengths = self.median * np.exp(self.sigma * rng.standard_normal(n))
        return np.clip(np.rint(lengths), 1, self.max_tokens).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class UniformTokens:
    """Lengths uniform on the integers low … high.

    Attributes
    ----------
    low, high : the shortest and the longest.
    """

    kind: Literal["uniform"] = "uniform"
    low: LengthTokens
    high: LengthTokens

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low ≤ high, not [{self.low}, {self.high}]")

    def draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n,) int64."""
        return rng.integers(self.low, self.high, size=n, endpoint=True, dtype=np.int64)


OutputTokens = LengthTokens | Annotated[LognormalTokens | UniformTokens, Field(discriminator="kind")]


def draw_output_tokens(output_tokens: OutputTokens, n: int, rng: np.random.Generator) -> IntArray:
    """(n,) int64 output lengths, each ≥ 1."""
    if isinstance(output_tokens, int):
        return np.full(n, output_tokens, dtype=np.int64)
    return output_tokens.draw(n, rng)

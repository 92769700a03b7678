"""A scenario's `sweep:` block: which keys take which values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from sim.parameters import STRICT

__all__ = ["MOST_POINTS", "Random", "Range", "SweepBlock"]

#: A sweep with more would take weeks, and is a slip of the keyboard.
MOST_POINTS = 1_000_000

Values = Annotated[list[Any], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class Range:
    """Where a random design draws one key's values from.

    Attributes
    ----------
    low, high : the ends; of whole numbers both can be drawn.
    scale : linear, or log: as many values below the geometric mean as above it.
    integer : whole numbers only.
    """

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    integer: bool = False

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"a high above low, which is {self.low:g}")
        if self.scale == "log" and self.low <= 0:
            raise ValueError("a low above 0, for the scale is log")
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError("whole numbers as low and high, for integer is true")


@dataclass(frozen=True, kw_only=True)
class Random:
    """A Latin hypercube: every range is cut into as many slices as there are points, and each slice is met once.

    Attributes
    ----------
    points : how many points.
    ranges : key → where its values come from; drawn from the scenario's seed.
    """

    points: Annotated[int, Field(ge=1, le=MOST_POINTS)]
    ranges: Annotated[dict[str, Range], Field(min_length=1)]

    __pydantic_config__: ClassVar[ConfigDict] = STRICT


@dataclass(frozen=True, kw_only=True)
class SweepBlock:
    """What `sweep` varies: every combination of grid, zip and random; other commands run the scenario without it.

    Attributes
    ----------
    grid : key → its values, every combination; keys are dotted, such as batching.size.
    zip : key → its values, first with first, second with second, …; all lists are equally long.
    random : points drawn from ranges.
    """

    grid: dict[str, Values] = field(default_factory=dict)
    zip: dict[str, Values] = field(default_factory=dict)
    random: Random | None = None

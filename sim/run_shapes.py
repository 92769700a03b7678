"""What the JSON files of run and sweep folders hold (DESIGN.md, Files), as far as anybody reads them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["SHAPES"]

Number = float | None
Numbers = list[Number]


class _Open(BaseModel):
    """A block in which other keys may stand."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


class Moments(_Open):
    """A mean over trials."""

    mean: Number
    se: Number
    n: int


class Difference(_Open):
    """A mean difference over trials."""

    diff: Number
    se: Number
    n: int


class Schedule(_Open):
    """One schedule of summary.json; its other keys are metrics."""

    __pydantic_extra__: dict[str, Moments]

    statuses: dict[str, int]
    trials: list[dict[str, Number]]
    paired: dict[str, Difference]


class PacedSchedule(_Open):
    """One schedule of summary.json's `pacing`."""

    welfare_vs_truthful_pct: Moments
    guaranteed_pct: Moments
    bound_violations: int
    overspent: int
    spent_pct: Number
    horizon: int
    regret: Moments
    regret_pct: Number


class Exponent(_Open):
    """The fitted growth of regret."""

    exponent: float
    interval: tuple[float, float]
    points: list[tuple[float, float]]


class PacingSummary(_Open):
    """summary.json's `pacing`."""

    schedules: dict[str, PacedSchedule]
    exponent: Exponent | None
    definitions: dict[str, str]


class Summary(_Open):
    """summary.json."""

    schedules: dict[str, Schedule] = Field(default_factory=dict)
    gap_to_bid_sort: Moments | None = None
    definitions: dict[str, str] | None = None
    pacing: PacingSummary | None = None


class Manifest(_Open):
    """manifest.json."""

    name: str | None = None
    status: str | None = None
    profile: dict[str, Any] | None = None
    backend: dict[str, Any] | None = None
    versions: dict[str, Any] | None = None
    warnings: list[str] | None = None
    dropped: dict[str, int] | None = None
    facts: dict[str, Number] | None = None


class Node(_Open):
    """A node of the first batch's tree."""

    id: int
    parent: int | None
    requests: int
    merged: int | None = 0
    depth_tokens: int | None = None
    average_bid: Number = None
    average_value: Number = None


class Tree(_Open):
    """tree.json."""

    nodes: list[Node]
    note: str = ""


class Curve(_Open):
    """One user over auctions."""

    auction: list[int]
    multiplier: Numbers
    spent: list[float]
    utility: list[float]
    bound: list[float] | None


class PacedUser(_Open):
    """One user's budget."""

    user: str
    period: int
    horizon: int
    budget: float
    spent: float
    utility: float
    bound: Number
    mu: Number
    regret: Number
    curve: Curve | None


class PacedAuctions(_Open):
    """Welfare auction by auction."""

    welfare: list[float]
    best_welfare: list[float] | None
    bound: list[float] | None


class PacedCell(_Open):
    """One schedule on one trial."""

    schedule: str
    users: list[PacedUser]
    auctions: PacedAuctions


class Pacing(_Open):
    """pacing.json."""

    cells: list[PacedCell]


class Axis(_Open):
    """One key a sweep varies."""

    key: str
    design: str


class SweepPoint(_Open):
    """One cell of a sweep."""

    cell: int
    key: str
    settings: dict[str, Any]


class Sweep(_Open):
    """sweep.json."""

    name: str
    status: str
    scenario: str
    fixed: dict[str, Any]
    axes: list[Axis]
    points: list[SweepPoint]
    version: str | None = None
    definitions: dict[str, str] | None = None


class Cell(_Open):
    """A finished cell's file."""

    scenario: dict[str, Any]
    summary: Summary
    warnings: list[str]


#: File name → what it holds; of a sweep's cells, "cell".
SHAPES: dict[str, type[BaseModel]] = {
    "summary.json": Summary,
    "manifest.json": Manifest,
    "tree.json": Tree,
    "pacing.json": Pacing,
    "sweep.json": Sweep,
    "cell": Cell,
}

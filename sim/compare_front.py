"""Who wins where, and which points no other point beats on welfare and waiting at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.compare import Comparison, Setting
from sim.compare_stats import Interval, interval_of

__all__ = ["TTFT", "FrontPoint", "Winner", "front_points", "welfare_metric", "winners"]

TTFT = "mean_ttft_ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Winner:
    """The contender with the highest welfare at a setting.

    Attributes
    ----------
    margin : its paired lead over the runner-up; without n where the two did not meet the same requests.
    """

    setting: Setting
    contender: str
    runner_up: str
    margin: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A contender at a setting: mean TTFT in ms and welfare, and whether a point on the same requests beats it."""

    setting: Setting
    contender: str
    ttft_ms: float
    welfare: float
    dominated: bool


def welfare_metric(comparison: Comparison) -> str:
    """Welfare over a random order, which settings share a scale of; plain welfare where that was not measured."""
    return "welfare_pct_over_random" if "welfare_pct_over_random" in comparison.metrics else "welfare"


def winners(comparison: Comparison) -> tuple[Winner, ...]:
    """The winner of every setting at which two or more contenders were measured; ties go to the first of them."""
    metric, found = welfare_metric(comparison), []
    for setting in comparison.settings:
        means = [(comparison.estimate(setting, name, metric).mean, name) for name in comparison.contenders]
        ranked = sorted(((mean, name) for mean, name in means if mean is not None), key=lambda pair: -pair[0])
        if len(ranked) > 1:
            (_, first), (_, second) = ranked[:2]
            margin = interval_of(comparison.against(second).differences(setting, first, metric))
            found.append(Winner(setting=setting, contender=first, runner_up=second, margin=margin))
    return tuple(found)


def front_points(comparison: Comparison) -> tuple[FrontPoint, ...]:
    """Every contender at every setting, those that nothing beats marked; O(n log n).

    A point is beaten by one that met the same requests, waits no longer, has no less welfare, and differs in one of
    the two. Points that met other requests are no alternatives to each other.
    """
    metric = welfare_metric(comparison)
    groups: dict[str, list[tuple[float, float, int]]] = {}
    points: list[tuple[Setting, str, float, float]] = []
    for setting in comparison.settings:
        for name, row in setting.rows.items():
            ttft = comparison.estimate(setting, name, TTFT).mean
            welfare = comparison.estimate(setting, name, metric).mean
            if ttft is not None and welfare is not None:
                groups.setdefault(row.requests, []).append((ttft, welfare, len(points)))
                points.append((setting, name, ttft, welfare))
    beaten = {place for group in groups.values() for place in dominated(group)}
    return tuple(
        FrontPoint(setting=setting, contender=name, ttft_ms=ttft, welfare=welfare, dominated=place in beaten)
        for place, (setting, name, ttft, welfare) in enumerate(points)
    )


def dominated(points: Sequence[tuple[float, float, int]]) -> set[int]:
    """The names of (cost, worth, name) that another point beats.

    >>> dominated([(1.0, 5.0, 0), (2.0, 5.0, 1), (2.0, 9.0, 2), (1.0, 5.0, 3)])
    {1}
    """
    beaten: set[int] = set()
    best: tuple[float, float] | None = None  # the most worth so far, and at which cost it was first had
    for cost, worth, name in sorted(points, key=lambda point: (point[0], -point[1])):
        if best is None or worth > best[0]:
            best = (worth, cost)
        elif (worth, cost) != best:
            beaten.add(name)
    return beaten

"""Figures and tables that a reader chooses between: one panel an axis, or one a metric."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports.chart import Chart
from reports.compare_look import Look, Shown
from reports.compare_slices import Slices, slices
from reports.compare_tables import Table, overall_table, slice_table
from reports.figures.sweep_lines import dots, lines, value_at
from reports.figures.sweep_maps import heat_map, winner_map
from sim.compare import Comparison
from sim.compare_front import welfare_metric

__all__ = ["Panel", "differences_panels", "levels_panels", "map_panels"]

#: Axes that get panels, and pairs of axes that get maps.
_AXES, _PAIRS = 6, 3
#: Metrics drawn as maps.
_MAPPED = ("welfare_pct_over_random", "welfare", "hit_rate", "mean_ttft_ms", "p90_ttft_ms", "revenue")


@dataclass(frozen=True, slots=True)
class Panel:
    """What one choice shows."""

    label: str
    charts: tuple[Chart, ...]
    tables: tuple[Table, ...]


def levels_panels(comparison: Comparison, looks: Sequence[Look], metrics: Sequence[Shown]) -> tuple[Panel, ...]:
    """A panel an axis with a figure a metric; where there is no axis, one panel with a mark a contender."""
    if not comparison.axes:
        charts = tuple(dots(comparison, comparison.settings, looks, shown) for shown in metrics)
        return (Panel("The only setting", charts, (overall_table(comparison, metrics),)),)
    return tuple(_along(comparison, looks, metrics, difference=False))


def differences_panels(comparison: Comparison, looks: Sequence[Look], metrics: Sequence[Shown]) -> tuple[Panel, ...]:
    """Paired differences: over all settings, then a panel an axis; none where there is nobody to compare with."""
    if len(comparison.contenders) < 2:
        return ()
    charts = tuple(dots(comparison, comparison.settings, looks, shown, difference=True) for shown in metrics)
    label = "Mean over the settings" if comparison.axes else "The only setting"
    return (Panel(label, charts, ()), *_along(comparison, looks, metrics, difference=True))


def map_panels(comparison: Comparison, looks: Sequence[Look], metrics: Sequence[Shown]) -> tuple[Panel, ...]:
    """For each pair of axes that forms a grid: who wins, then a panel a metric."""
    drawn = {key for source in comparison.sources for key in source.drawn}
    places = [place for place, axis in enumerate(comparison.axes) if axis.key not in drawn]
    panels: list[Panel] = []
    for pair in list(itertools.combinations(places, 2))[:_PAIRS]:
        cut = slices(comparison, pair)
        if cut.averaged:
            panels += _maps(comparison, (pair[0], pair[1]), cut, looks, metrics)
    return tuple(panels)


def _along(
    comparison: Comparison, looks: Sequence[Look], metrics: Sequence[Shown], *, difference: bool
) -> Iterator[Panel]:
    for place, axis in list(enumerate(comparison.axes))[:_AXES]:
        cut = slices(comparison, (place,))
        yield Panel(
            f"Over {axis.key}",
            tuple(lines(comparison, place, cut, looks, shown, difference=difference) for shown in metrics),
            tuple(slice_table(comparison, (place,), cut, shown, difference=difference) for shown in metrics),
        )


def _maps(
    comparison: Comparison, pair: tuple[int, int], cut: Slices, looks: Sequence[Look], metrics: Sequence[Shown]
) -> Iterator[Panel]:
    first, second = (comparison.axes[place].key for place in pair)
    several = len(comparison.axes) > 2
    where = f" ({first} × {second})" if several else ""
    by_name = {shown.name: shown for shown in metrics}
    main = by_name.get(welfare_metric(comparison))
    if main is not None and len(looks) > 1:
        yield Panel(
            f"Who wins{where}",
            (winner_map(comparison, pair, cut, looks, main),),
            (slice_table(comparison, pair, cut, main),),
        )
    for shown in (by_name[name] for name in _MAPPED if name in by_name):
        yield _of_metric(comparison, pair, cut, looks, shown, f"{shown.title}{where}")


def _of_metric(
    comparison: Comparison, pair: tuple[int, int], cut: Slices, looks: Sequence[Look], shown: Shown, label: str
) -> Panel:
    """Every contender's map on one scale, then their differences to the baseline on another."""
    charts: list[Chart] = []
    tables = []
    for difference in (False, True):
        drawn = [look for look in looks if not (difference and look.name == comparison.baseline)]
        span = _span(comparison, cut, drawn, shown, difference=difference)
        if span is None:
            continue
        charts += [heat_map(comparison, pair, cut, look, shown, span=span, difference=difference) for look in drawn]
        tables.append(slice_table(comparison, pair, cut, shown, difference=difference))
    return Panel(label, tuple(charts), tuple(tables))


def _span(
    comparison: Comparison, cut: Slices, looks: Sequence[Look], shown: Shown, *, difference: bool
) -> tuple[float, float] | None:
    """The scale that all maps of a metric share; of differences it is symmetric about 0."""
    means = [
        value_at(comparison, there, look.name, shown.name, difference=difference).mean
        for look in looks
        for there in cut.at.values()
    ]
    known = [mean for mean in means if mean is not None]
    if not known:
        return None
    if difference:
        reach = max(map(abs, known)) or 1.0
        return -reach, reach
    low, high = min(known), max(known)
    return (low, high) if low < high else (low - 1, high + 1)

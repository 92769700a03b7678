"""The comparison page: records of runs and sweeps become one HTML file that says who wins, at what price, and where."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reports._page import write_page
from reports.chart import Chart
from reports.compare_look import Look, Shown, looks_of, shown_metrics
from reports.compare_panels import Panel, differences_panels, levels_panels, map_panels
from reports.compare_tables import ROWS, difference_table, overall_table, setting_rows
from reports.compare_trust import assumptions
from reports.figures.sweep_front import front
from sim.compare import Comparison
from sim.compare_differences import differences
from sim.compare_front import TTFT, FrontPoint, front_points, welfare_metric
from sim.compare_keys import short
from sim.compare_rows import Missing
from sim.compare_stats import CONFIDENCE, RESAMPLES
from sim.compare_words import cautions, reading

__all__ = ["write_compare_page", "write_compare_pngs"]

_FRONT_ROWS = 60
#: Metrics of the first table, which should fit the screen.
_OVERALL = 6


def write_compare_page(comparison: Comparison, out: Path) -> Path:
    """Write the page to `out`, whole or not at all; returns `out`.

    The page needs no network, follows the reader's light or dark setting, and holds one copy of plotly.js. Links to
    run pages are relative to it. Its size grows with what is drawn, not with the number of cells.
    """
    return write_page("compare_page.html.j2", out, _context(comparison, out))


def write_compare_pngs(
    comparison: Comparison, folder: Path, writer: Callable[[Sequence[Chart], Path], list[Path]]
) -> list[Path]:
    """Every figure of the page as PNG, by `writer` (`reports.png.png_writer`); returns the files."""
    parts = _Parts(comparison, folder / "compare.html")
    charts = [chart for panel in parts.panels for chart in panel.charts]
    return writer([*charts, parts.front], folder)


class _Parts:
    """The figures of a page, made once."""

    def __init__(self, comparison: Comparison, out: Path) -> None:
        self.looks, self.metrics = looks_of(comparison), shown_metrics(comparison)
        self.levels = levels_panels(comparison, self.looks, self.metrics)
        self.differences = differences_panels(comparison, self.looks, self.metrics)
        self.maps = map_panels(comparison, self.looks, self.metrics)
        self.points = front_points(comparison)
        self.links = dict(_links(comparison, out))
        self.front = _front(comparison, self.points, self.looks, self.metrics, self.links)

    @property
    def panels(self) -> Iterator[Panel]:
        yield from (*self.levels, *self.differences, *self.maps)


def _context(comparison: Comparison, out: Path) -> Mapping[str, Any]:
    parts = _Parts(comparison, out)
    by_name = {shown.name: shown for shown in parts.metrics}
    found = differences(comparison, tuple(by_name))
    missing = [gap for source in comparison.sources for gap in source.missing]
    return {
        "title": _title(comparison),
        "comparison": comparison,
        "reading": reading(comparison),
        "cautions": tuple(cautions(comparison)),
        "overall": overall_table(comparison, parts.metrics[:_OVERALL]),
        "levels": parts.levels,
        "differences": parts.differences,
        "difference_table": difference_table(comparison, found, by_name),
        "maps": parts.maps,
        "front": parts.front,
        "front_rows": _front_rows(comparison, parts, by_name),
        "num_front": sum(not point.dominated for point in parts.points),
        "settings": setting_rows(comparison, parts.links),
        "missing": [_hole(gap) for gap in missing[:ROWS]],
        "num_missing": len(missing),
        "most": ROWS,
        "assumptions": tuple(assumptions(comparison)),
        "confidence": round(100 * CONFIDENCE),
        "resamples": RESAMPLES,
        "warnings": list(dict.fromkeys(text for source in comparison.sources for text in source.warnings)),
        "definitions": {name: text for source in comparison.sources for name, text in source.definitions.items()},
    }


def _hole(gap: Missing) -> Mapping[str, str]:
    settings = ", ".join(f"{key}={short(value)}" for key, value in gap.settings.items())
    return {"place": gap.place, "settings": settings, "reason": gap.reason, "command": gap.command}


def _title(comparison: Comparison) -> str:
    """The scenarios' names, and how many runs and sweeps of them."""
    names = list(dict.fromkeys(source.name for source in comparison.sources))
    sweeps = sum(bool(source.axes) for source in comparison.sources)
    counts = ((len(comparison.sources) - sweeps, "run"), (sweeps, "sweep"))
    told = [f"{count:,} {word}{'s' if count > 1 else ''}" for count, word in counts if count]
    return " · ".join((*names[:4], *([f"and {len(names) - 4} more"] if len(names) > 4 else []), " and ".join(told)))


def _links(comparison: Comparison, out: Path) -> Iterator[tuple[int, str]]:
    """Rows that have a run's page, with its address relative to this page's folder."""
    for setting in comparison.settings:
        for row in setting.rows.values():
            if row.page is not None:
                yield id(row), quote(Path(os.path.relpath(row.page, out.resolve().parent)).as_posix())


def _front(
    comparison: Comparison,
    points: Sequence[FrontPoint],
    looks: Sequence[Look],
    metrics: Sequence[Shown],
    links: Mapping[int, str],
) -> Chart:
    by_name = {shown.name: shown for shown in metrics}
    welfare, ttft = by_name.get(welfare_metric(comparison)), by_name.get(TTFT)
    if welfare is None or ttft is None:
        return Chart(key="front", title="Welfare against waiting", missing="Welfare or TTFT was not measured.")
    return front(
        comparison, points, looks, welfare, ttft, lambda point: links.get(id(point.setting.rows[point.contender]))
    )


def _front_rows(comparison: Comparison, parts: _Parts, metrics: Mapping[str, Shown]) -> list[Mapping[str, str | None]]:
    """The points that nothing beats, those with most welfare first."""
    best = sorted((point for point in parts.points if not point.dominated), key=lambda point: -point.welfare)
    shown = [metrics[name] for name in (welfare_metric(comparison), TTFT, "hit_rate") if name in metrics]
    return [
        {
            "contender": point.contender,
            "setting": comparison.name_of(point.setting),
            **{each.name: each.text(comparison.estimate(point.setting, point.contender, each.name)) for each in shown},
            "page": parts.links.get(id(point.setting.rows[point.contender])),
            "command": point.setting.rows[point.contender].command,
        }
        for point in best[:_FRONT_ROWS]
    ]

"""The comparison as data, for `compare --json`."""

from __future__ import annotations

from typing import Any

from sim.compare import Comparison, Setting
from sim.compare_differences import HEADLINES, Difference, differences
from sim.compare_front import front_points
from sim.compare_stats import CONFIDENCE, RESAMPLES, Interval
from sim.compare_words import cautions, reading

__all__ = ["comparison_json"]


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Strict data: axes, what was compared, every setting with means, intervals and paired differences, the front.

    `paired` holds every metric with its t interval, and a bootstrap interval where a page would show one; `told` is
    whether the t interval excludes 0, null without an interval. O(settings × contenders × metrics).
    """
    found = differences(comparison, [name for name in HEADLINES if name in comparison.metrics])
    ends = {(id(each.setting), each.contender, each.metric): each.bootstrap for each in found}
    names = {id(setting): index for index, setting in enumerate(comparison.settings)}
    return {
        "compared_by": comparison.by,
        "contenders": list(comparison.contenders),
        "baseline": comparison.baseline,
        "verdict": list(reading(comparison)),
        "cautions": list(cautions(comparison)),
        "axes": [
            {"key": axis.key, "values": list(axis.values), "companions": list(axis.companions)}
            for axis in comparison.axes
        ],
        "sources": [
            {"folder": str(source.folder), "name": source.name, "status": source.status, "axes": list(source.axes)}
            for source in comparison.sources
        ],
        "points": [_point(comparison, setting, ends) for setting in comparison.settings],
        "over_settings": [_overall(each) for each in found if each.setting is None],
        "front": [
            {
                "point": names[id(point.setting)],
                "contender": point.contender,
                "ttft_ms": point.ttft_ms,
                "welfare": point.welfare,
            }
            for point in front_points(comparison)
            if not point.dominated
        ],
        "missing": [
            {"settings": dict(gap.settings), "reason": gap.reason, "command": gap.command}
            for source in comparison.sources
            for gap in source.missing
        ],
        "method": {
            "interval": "t",
            "confidence": CONFIDENCE,
            "bootstrap": {"method": "percentile", "resamples": RESAMPLES},
        },
    }


def _point(comparison: Comparison, setting: Setting, ends: dict[Any, Any]) -> dict[str, Any]:
    contenders: dict[str, Any] = {}
    for name, row in setting.rows.items():
        paired: dict[str, Any] = {}
        for metric in comparison.metrics if name != comparison.baseline else ():
            interval = comparison.paired(setting, name, metric)
            if interval.n:
                ends_of = ends.get((id(setting), name, metric))
                paired[metric] = _difference(interval, ends_of)
        contenders[name] = {
            "requests": row.requests,
            "source": str(comparison.sources[row.source].folder),
            "place": row.place,
            "page": None if row.page is None else str(row.page),
            "command": row.command,
            "metrics": {metric: _moments(comparison.estimate(setting, name, metric)) for metric in comparison.metrics},
            "paired": paired,
        }
    settings = {axis.key: value for axis, value in zip(comparison.axes, setting.values, strict=True)}
    return {"settings": settings, "contenders": contenders}


def _overall(found: Difference) -> dict[str, Any]:
    return {"contender": found.contender, "metric": found.metric, **_difference(found.interval, found.bootstrap)}


def _moments(found: Interval) -> dict[str, Any]:
    return {"mean": found.mean, "se": found.se, "n": found.n, "low": found.low, "high": found.high}


def _difference(found: Interval, ends: tuple[float, float] | None) -> dict[str, Any]:
    moments = _moments(found)
    moments["diff"] = moments.pop("mean")
    return {**moments, "bootstrap": None if ends is None else list(ends), "told": found.told}

"""What a comparison rests on: trials, seeds, engine, profile and assumptions, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reports.trust import latencies, premises, setting_of
from sim.compare import Comparison
from sim.compare_rows import Source

__all__ = ["assumptions"]


def assumptions(comparison: Comparison) -> Iterator[str]:
    """What a careful reader asks first; what differs between the sources is said of each."""
    counts = sorted({len(row.trials) for each in comparison.settings for row in each.rows.values()})
    rows = [row for each in comparison.settings for row in each.rows.values()]
    seeds = sorted({str(row.facts.get("seed", "not reported")) for row in rows})
    requests = len({row.requests for row in rows})
    trials = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    yield (
        f"n = {trials} trials a setting and schedule, from the base seed{'s' if len(seeds) > 1 else ''}"
        f" {', '.join(seeds[:8])}{' …' if len(seeds) > 8 else ''}. Each trial has random streams of its own; within a"
        f" trial everybody meets the same requests, values and arrivals."
    )
    yield (
        f"{len(comparison.settings):,} settings met {requests:,} different sets of requests."
        if requests > 1
        else "All of them met the same requests."
    ) + (" A difference is computed between two that met the same set, and never else.")
    for text, names in _grouped(comparison).items():
        yield text if len(names) == len(comparison.sources) else f"{text} ({', '.join(names)})"


def _grouped(comparison: Comparison) -> Mapping[str, list[str]]:
    """Each sentence once, with the folders it holds for."""
    found: dict[str, list[str]] = {}
    for source in comparison.sources:
        for text in _of_source(comparison, source):
            found.setdefault(text, []).append(source.folder.name)
    return found


def _of_source(comparison: Comparison, source: Source) -> Iterator[str]:
    swept = {axis.key for axis in comparison.axes}
    scenario = source.scenario
    backend = scenario.get("backend")
    if "dispatch.in_flight" in swept:
        yield "Engine setting: swept (dispatch.in_flight)."
    else:
        yield f"Engine setting: {setting_of(scenario)}. Results depend on it; compare like with like."
    if isinstance(backend, Mapping):
        yield f"Backend: {_backend(backend, swept)}."
    version = (source.card.get("versions") or {}).get("inference-auctions")
    yield f"Made by inference-auctions {version or '(version not reported)'}."
    yield from premises(scenario)
    yield from latencies(source.card.get("profile"))


def _backend(backend: Mapping[str, Any], swept: set[str]) -> str:
    """Name, profile, engine and cache; a swept key is said to be."""
    told = [str(backend.get("use"))]
    for key, name in (("profile", "profile"), ("engine", "rules of SGLang"), ("kv_tokens", "KV tokens")):
        if f"backend.{key}" in swept:
            told.append(f"{name} swept")
        elif backend.get(key) is not None:
            value = backend[key]
            told.append(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}")
    return ", ".join(told)

"""What was measured more than once: equal measurements are one, unequal ones are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim.compare_keys import BESIDE, whole, word
from sim.compare_rows import Row, Source

__all__ = ["Repeats", "without_repeats"]

Identity = tuple[str, str, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How many of all points (runs and cells of sweeps) give nothing that an earlier one did not give."""

    repeated: int
    points: int


def without_repeats(sources: Sequence[Source]) -> tuple[tuple[Source, ...], Repeats]:
    """The sources with every measurement once, the first of its like, and the number of points that fell away.

    Rows of one schedule under one resolved scenario, on the same requests and with equal metrics in every trial, are
    one measurement. Where the metrics differ, as those of a live server do, the rows are repeats: they are numbered
    1, 2, … for each setting and schedule, so that the first of one schedule stands beside the first of another.
    O(rows × keys).
    """
    seen: dict[Identity, list[Row]] = {}
    kept: list[list[Row]] = [[] for _ in sources]
    for row in (row for source in sources for row in source.rows):
        alike = seen.setdefault(_identity(row), [])
        if all(other.trials != row.trials for other in alike):
            alike.append(replace(row, repeat=len(alike) + 1))
            kept[row.source].append(alike[-1])
    points = {(row.source, row.place) for source in sources for row in source.rows}
    left = {(row.source, row.place) for rows in kept for row in rows}
    found = tuple(replace(source, rows=tuple(rows)) for source, rows in zip(sources, kept, strict=True))
    return found, Repeats(repeated=len(points - left), points=len(points))


def _identity(row: Row) -> Identity:
    """Schedule, requests, and everything the row's schedule sees; a swept key that is beside that counts too."""
    facts = {key: value for key, value in row.facts.items() if key != "name"}
    facts |= {key: value for key, value in row.settings.items() if key.split(".")[0] in BESIDE}
    return row.schedule, row.requests, frozenset((key, word(whole(value))) for key, value in facts.items())

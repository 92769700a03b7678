"""The axes of a comparison: the keys of the sweeps, and the keys in which resolved scenarios differ besides."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.compare_keys import whole, word
from sim.compare_rows import Missing, Row, Source

__all__ = ["NOT_SET", "Axis", "axes_of", "value_of"]

#: A key that a scenario does not have.
NOT_SET = "not set"
#: The axis that tells repeats of one setting apart.
REPEAT = "run"
#: Keys that every schedule has its own of.
_OF_SCHEDULES = ("schedule.", "payment.", "bidding.")
#: From this ratio of the largest to the smallest value on, two values are drawn on a logarithmic axis.
_DECADE = 10.0

Group = dict[tuple[str, ...], list[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One key that takes several values.

    Attributes
    ----------
    values : in order: numbers ascending, others as they first appear.
    companions : keys that change along with it and with no other key, so that their effects cannot be told apart.
    """

    key: str
    values: tuple[Any, ...]
    companions: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether every value is a finite number."""
        return all(_is_number(value) for value in self.values)

    @property
    def log(self) -> bool:
        """Whether the values are spaced by ratios rather than by steps."""
        if not self.numeric or min(self.values) <= 0:
            return False
        if len(self.values) < 3:
            return bool(max(self.values) / min(self.values) >= _DECADE)
        return _unevenness([math.log(value) for value in self.values]) < _unevenness(self.values)

    @property
    def words(self) -> tuple[str, ...]:
        """The values as texts."""
        return tuple(map(word, self.values))


def value_of(row: Row | Missing, key: str, sources: Sequence[Source]) -> Any:
    """What a row has at a key: as the design spelled it, else as resolved; `NOT_SET` where it has none.

    For a cell without a result, what the other cells of its sweep have at a key that the sweep leaves alone.
    """
    if key == REPEAT:
        return row.repeat if isinstance(row, Row) else 1
    if key == "schedule" and isinstance(row, Row):
        return row.schedule
    if key in row.settings:
        return whole(row.settings[key])
    if isinstance(row, Row):
        return whole(row.facts.get(key, NOT_SET))
    return whole(sources[row.source].facts.get(key, NOT_SET))


def axes_of(sources: Sequence[Source], contender: Callable[[Row], str], by: str) -> tuple[Axis, ...]:
    """The fewest keys, in order, that tell rows apart whose difference is not the contenders' own.

    Keys of the designs come first, then resolved keys; a key that splits no group of rows which the keys before it
    leave together is no axis but a companion. Where schedules are compared, what belongs to a schedule (its
    parameters, payments, bids) may differ between them, and nothing else: another cache is another setting. Keys that
    were drawn at random always are axes. Repeats, which no key tells apart, get an axis of their own, their number.
    O(rows × keys).
    """
    rows = [row for source in sources for row in source.rows]
    kept = {key for source in sources for key in source.drawn}
    groups: Group = {}
    for row in rows:
        groups.setdefault((contender(row),), []).append(row)
    together: Group = {(): rows} if by == "schedule" else dict(groups)
    chosen: list[str] = []
    dropped: list[str] = []
    for key in _candidates(sources, rows, together):
        if key == by:
            continue
        before = groups if key.startswith(_OF_SCHEDULES) else together
        if len(_split(before, key, sources)) > len(before) or key in kept:
            chosen.append(key)
            groups, together = _split(groups, key, sources), _split(together, key, sources)
        elif not ("schedule" in chosen and key.startswith(_OF_SCHEDULES)) and _varies(rows, contender, key, sources):
            dropped.append(key)
    if any(row.repeat > 1 for row in rows):
        chosen.append(REPEAT)
    everything: list[Row | Missing] = []
    for source in sources:
        everything += [*source.rows, *source.missing]
    return tuple(
        Axis(key=key, values=_ordered(value_of(row, key, sources) for row in everything), companions=with_it)
        for key, with_it in _companions(chosen, dropped, rows, sources).items()
    )


def _candidates(sources: Sequence[Source], rows: Sequence[Row], together: Group) -> list[str]:
    """Keys in the order in which they are tried; a name is none, unless it stands for several keys of runs."""
    designed = dict.fromkeys(key for source in sources for key in source.axes)
    resolved = dict.fromkeys(key for row in rows for key in row.facts)
    others = [key for key in resolved if key not in designed and key != "name"]
    if not designed:
        named = _split(together, "name", sources)
        free = [key for key in others if not key.startswith(_OF_SCHEDULES)]
        differing = [key for key in free if len(_split(together, key, sources)) > len(together)]
        if len(differing) > 1 and all(len(_split(named, key, sources)) == len(named) for key in differing):
            return ["name", "schedule", *others]
    return [*dict.fromkeys((*designed, "schedule")), *others]


def _split(groups: Group, key: str, sources: Sequence[Source]) -> Group:
    finer: Group = {}
    for group, rows in groups.items():
        for row in rows:
            finer.setdefault((*group, word(value_of(row, key, sources))), []).append(row)
    return finer


def _varies(rows: Sequence[Row], contender: Callable[[Row], str], key: str, sources: Sequence[Source]) -> bool:
    """Whether some contender meets several values of the key."""
    seen: dict[str, str] = {}
    for row in rows:
        found = word(value_of(row, key, sources))
        if seen.setdefault(contender(row), found) != found:
            return True
    return False


def _companions(
    chosen: Sequence[str], dropped: Sequence[str], rows: Sequence[Row], sources: Sequence[Source]
) -> Mapping[str, tuple[str, ...]]:
    """Each axis with the dropped keys that are a function of it; what lies inside another key's block is that key."""
    found: dict[str, list[str]] = {key: [] for key in chosen}
    blocks = tuple(f"{key}." for key in (*chosen, *dropped))
    for key in dropped:
        if key.startswith(blocks):
            continue
        for one in chosen:
            pairs = {(word(value_of(row, one, sources)), word(value_of(row, key, sources))) for row in rows}
            if len(pairs) == len({first for first, _ in pairs}):
                found[one].append(key)
                break
    return {key: tuple(keys) for key, keys in found.items()}


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    unique = list({word(value): value for value in values}.values())
    numbers = sorted(value for value in unique if _is_number(value))
    return (*numbers, *(value for value in unique if not _is_number(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _unevenness(values: Sequence[float]) -> float:
    """The largest step over the mean step, in a sorted sequence; 1 when all steps are equal."""
    steps = [b - a for a, b in itertools.pairwise(values)]
    return max(steps) * len(steps) / sum(steps)

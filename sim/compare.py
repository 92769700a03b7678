"""The comparison: who is compared at which settings, estimated with intervals, paired where requests are the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sim.compare_axes import Axis, axes_of, value_of
from sim.compare_keys import short, word
from sim.compare_repeats import Repeats, without_repeats
from sim.compare_rows import Missing, Row, Source
from sim.compare_sources import load_sources
from sim.compare_stats import Interval, interval_of
from sim.errors import ScenarioError, did_you_mean

__all__ = ["Comparison", "Setting", "compare"]

#: Differences of less than this share of the numbers are rounding of doubles.
_DUST = 1e-9
#: Values of one key that two or more runs are compared by where no schedule tells them apart.
_MOST_CONTENDERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One combination of the axes' values.

    Attributes
    ----------
    values : one for each axis.
    rows : contender → its row; contenders may be missing.
    missing : the cell of a design that has no result here, None where all is well.
    """

    values: tuple[Any, ...]
    rows: Mapping[str, Row]
    missing: Missing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Contenders at settings.

    Attributes
    ----------
    by : the key whose values are the contenders, "schedule" as a rule.
    contenders : in order of appearance; `baseline` is one of them.
    settings : in the order of the axes' values.
    repeats : how many points gave nothing new; they are in no row.
    metrics : every metric with a number somewhere, in the order of the records.
    """

    sources: tuple[Source, ...]
    by: str
    axes: tuple[Axis, ...]
    contenders: tuple[str, ...]
    baseline: str
    settings: tuple[Setting, ...]
    metrics: tuple[str, ...]
    repeats: Repeats
    #: What was computed already: a page asks for the same means in figures, scales and tables.
    _known: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def complete(self) -> tuple[Setting, ...]:
        """The settings at which every contender has a row: what averages over settings are taken over."""
        return tuple(setting for setting in self.settings if len(setting.rows) == len(self.contenders))

    def estimate(self, setting: Setting, contender: str, metric: str) -> Interval:
        """A metric's mean over trials, with its interval."""
        return interval_of(self._values(setting, contender, metric))

    def average(self, settings: Sequence[Setting], contender: str, metric: str) -> Interval:
        """The mean over settings, taken within each trial; its interval is over trials, which are independent."""
        key = ("average", tuple(map(id, settings)), contender, metric)
        if key not in self._known:
            table = [self._values(setting, contender, metric) for setting in settings]
            self._known[key] = interval_of(_across(table))
        found: Interval = self._known[key]
        return found

    def differences(self, setting: Setting, contender: str, metric: str) -> list[float | None]:
        """Contender − baseline, trial by trial; empty where the two did not meet the same requests."""
        key = ("differences", self.baseline, id(setting), contender, metric)
        if key not in self._known:
            self._known[key] = self._subtract(setting, contender, metric)
        found: list[float | None] = self._known[key]
        return found

    def paired(self, setting: Setting, contender: str, metric: str) -> Interval:
        """The mean paired difference to the baseline at one setting."""
        return interval_of(self.differences(setting, contender, metric))

    def mean_differences(self, settings: Sequence[Setting], contender: str, metric: str) -> list[float]:
        """Paired differences averaged over the settings where there are any, one a trial."""
        key = ("mean differences", self.baseline, tuple(map(id, settings)), contender, metric)
        if key not in self._known:
            table = [self.differences(setting, contender, metric) for setting in settings]
            self._known[key] = [value for value in _across([each for each in table if each]) if value is not None]
        found: list[float] = self._known[key]
        return found

    def _subtract(self, setting: Setting, contender: str, metric: str) -> list[float | None]:
        ours, base = setting.rows.get(contender), setting.rows.get(self.baseline)
        if ours is None or base is None or ours.requests != base.requests:
            return []
        both = (self._values(setting, name, metric) for name in (contender, self.baseline))
        return [_minus(one, other) for one, other in zip(*both, strict=False)]

    def _values(self, setting: Setting, contender: str, metric: str) -> list[float | None]:
        key = ("values", id(setting), contender, metric)
        if key not in self._known:
            row = setting.rows.get(contender)
            self._known[key] = [] if row is None else [_finite(trial.get(metric)) for trial in row.trials]
        found: list[float | None] = self._known[key]
        return found

    def against(self, baseline: str) -> Comparison:
        """The same with another baseline."""
        return replace(self, baseline=baseline)

    def name_of(self, setting: Setting) -> str:
        """The setting in words, such as ``batching.size=64, values.correlation=0.5``; for readers, see `short`."""
        pairs = zip(self.axes, setting.values, strict=True)
        return ", ".join(f"{axis.key}={short(value)}" for axis, value in pairs) or "the only setting"


def compare(folders: Sequence[Path], baseline: str | None = None) -> Comparison:
    """Read folders and compare what they hold.

    Parameters
    ----------
    folders : run folders and sweep folders.
    baseline : a schedule's label, or ``KEY=VALUE``: then the values of KEY are the contenders, and schedules an axis.

    Raises
    ------
    ScenarioError
        What `load_sources` raises; no finished trial in any of them; a baseline that is not among the contenders.
    """
    sources, repeats = without_repeats(load_sources(folders))
    rows = [row for source in sources for row in source.rows]
    if not rows:
        raise ScenarioError(", ".join(str(source.folder) for source in sources), "no finished trial", "at least one")
    by = (baseline or "").rpartition("=")[0] or _by(sources, rows)

    def contender(row: Row) -> str:
        return row.schedule if by == "schedule" else f"{by}={word(value_of(row, by, sources))}"

    contenders = tuple(dict.fromkeys(map(contender, rows)))
    wanted = contenders[0] if baseline is None else baseline
    if wanted not in contenders:
        known = did_you_mean(wanted, contenders)
        raise ScenarioError("--baseline", f'"{wanted}"', "one of what is compared", known)
    axes = axes_of(sources, contender, by)
    trials = (trial for row in rows for trial in row.trials)
    return Comparison(
        sources=sources,
        by=by,
        axes=axes,
        contenders=contenders,
        baseline=wanted,
        settings=_settings(sources, axes, contender),
        metrics=tuple(dict.fromkeys(name for trial in trials for name, value in trial.items() if value is not None)),
        repeats=repeats,
    )


def _by(sources: Sequence[Source], rows: Sequence[Row]) -> str:
    """Schedules; of runs of one and the same schedule, the first key in which they differ on the same requests."""
    if len({row.schedule for row in rows}) > 1 or any(source.axes for source in sources):
        return "schedule"
    for axis in axes_of(sources, lambda row: row.schedule, "schedule"):
        same = len({row.requests for row in rows}) == 1
        if same and len(axis.values) <= _MOST_CONTENDERS:
            return axis.key
    return "schedule"


def _settings(sources: Sequence[Source], axes: Sequence[Axis], contender: Callable[[Row], str]) -> tuple[Setting, ...]:
    values: dict[tuple[str, ...], tuple[Any, ...]] = {}
    rows: dict[tuple[str, ...], dict[str, Row]] = {}
    gaps: dict[tuple[str, ...], Missing] = {}
    everything: list[Row | Missing] = []
    for source in sources:
        everything += [*source.rows, *source.missing]
    for one in everything:
        found = tuple(value_of(one, axis.key, sources) for axis in axes)
        key = tuple(map(word, found))
        values[key] = found
        mine = rows.setdefault(key, {})
        if isinstance(one, Row):
            mine[contender(one)] = one
        else:
            gaps[key] = one
    places = [{text: place for place, text in enumerate(axis.words)} for axis in axes]

    def order(key: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(known[text] for known, text in zip(places, key, strict=True))

    return tuple(
        Setting(values=values[key], rows=rows[key], missing=gaps.get(key)) for key in sorted(values, key=order)
    )


def _across(table: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The mean of each trial over the settings; None in a trial that lacks one of them."""
    there = [[value for value in column if value is not None] for column in zip(*table, strict=False)]
    return [math.fsum(column) / len(table) if len(column) == len(table) else None for column in there]


def _minus(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return 0.0 if abs(one - other) <= _DUST * max(abs(one), abs(other)) else one - other


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

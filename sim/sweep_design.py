"""Which points a sweep has: every combination of its axes, from the `sweep:` block and the command line together."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechanism.prompts import FloatArray
from sim.errors import ScenarioError
from sim.parameters import build
from sim.rng import stream
from sim.sweep_axes import Axis, Typed, range_of, read_typed, refuse_shared_labels, zipped
from sim.sweep_block import MOST_POINTS, Range, SweepBlock
from sim.yaml_source import Source

__all__ = ["Design", "SweepOptions", "read_design"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """What the command line says: texts as typed after --set, --zip and --range, and the numbers."""

    sets: Sequence[str] = ()
    zips: Sequence[str] = ()
    random: int | None = None
    ranges: Sequence[str] = ()
    seed: int | None = None
    trials: int | None = None


@dataclass(frozen=True, slots=True)
class Design:
    """The points, in order: the last axis steps fastest."""

    axes: tuple[Axis, ...] = field(default=())

    def __len__(self) -> int:
        return math.prod(len(axis.rows) for axis in self.axes)

    def settings(self, index: int) -> dict[str, Any]:
        """The values that make point `index` differ from others, by key."""
        return {key: value for axis, row in self._steps(index) if axis.kind != "fixed" for key, value in row.items()}

    def overrides(self, index: int) -> list[tuple[str, Any, str]]:
        """(key, value, origin) of everything point `index` changes: blocks come before the keys inside them."""
        found = [
            (key, value, origin)
            for axis, row in self._steps(index)
            for (key, value), origin in zip(row.items(), axis.origins, strict=True)
        ]
        return sorted(found, key=lambda override: override[0].count("."))

    def digest(self, base: Mapping[str, Any]) -> str:
        """8 hex digits of the design and the scenario under it."""
        content = [base, [(axis.kind, axis.keys, axis.rows) for axis in self.axes]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]

    def _steps(self, index: int) -> Iterator[tuple[Axis, dict[str, Any]]]:
        after = len(self)
        for axis in self.axes:
            after //= len(axis.rows)
            step, index = divmod(index, after)
            yield axis, dict(zip(axis.keys, axis.rows[step], strict=True))


def read_design(source: Source, options: SweepOptions) -> Design:
    """The design of a scenario's block, changed by the command line.

    ``--set`` and ``--zip`` take a key out of the block, ``--zip`` replaces all its zipped keys, ``--range`` adds to
    its ranges, ``--random`` replaces its number of points.

    Raises
    ------
    ScenarioError
        What is wrong with the block or an option, a key given twice, a label of two schedules, no axis at all, or more
        than 10^6 points.
    """
    sets, zips = [read_typed(text, "--set") for text in options.sets], [read_typed(t, "--zip") for t in options.zips]
    sets += [Typed(k, (v,), f"--{k}") for k, v in (("seed", options.seed), ("trials", options.trials)) if v is not None]
    ranges = [read_typed(text, "--range") for text in options.ranges]
    typed: dict[str, Typed] = {}
    for each in (*sets, *zips, *ranges):
        if each.key in typed:
            raise ScenarioError(each.origin, f"the key {each.key} in {typed[each.key].origin} too", "each key once")
        typed[each.key] = each
    written = source.data.get("sweep", {})
    if not isinstance(written, dict):
        raise ScenarioError(source.where(("sweep",)), json.dumps(written), "a block of keys")
    kept = _Block(source, build(SweepBlock, written, source, ("sweep",)), set(typed))
    fixed = [Axis.of(each, "fixed" if len(each.values) == 1 else "grid") for each in sets]
    random = kept.random(options.random, ranges)
    columns = zips or kept.zips()
    axes = (*map(Axis.of, kept.grid()), *fixed, *([zipped(columns)] if columns else []))
    refuse_shared_labels(axes)
    _refuse_sizes(axes, None if random is None else random[0], source)
    if random is not None:
        axes = (*axes, _draw(*random, _seed(source, sets)))
    return Design(axes)


@dataclass(frozen=True, slots=True)
class _Block:
    """The `sweep:` block without the keys that the command line names."""

    source: Source
    block: SweepBlock
    named: set[str]

    def grid(self) -> list[Typed]:
        return [self._typed("grid", key, values) for key, values in self.block.grid.items() if key not in self.named]

    def zips(self) -> list[Typed]:
        return [self._typed("zip", key, values) for key, values in self.block.zip.items() if key not in self.named]

    def random(self, points: int | None, typed: Sequence[Typed]) -> tuple[int, dict[str, tuple[Range, str]]] | None:
        """(points, key → range and where it stands)."""
        written = self.block.random
        ranges = {} if written is None else written.ranges
        found = {k: (r, self._origin("random", "ranges", k)) for k, r in ranges.items() if k not in self.named}
        found |= {each.key: (range_of(each), each.origin) for each in typed}
        number = points if points is not None or written is None else written.points
        if number is None and found:
            raise ScenarioError("--range", "no number of points", "--random N beside it")
        if points is not None and not found:
            raise ScenarioError("--random", "no range to draw from", "--range key=low,high beside it")
        for key, (_, origin) in found.items():
            Typed(key, (), origin)  # refuses what is no key
        return (number, found) if number is not None and found else None

    def _typed(self, part: str, key: str, values: list[Any]) -> Typed:
        return Typed(key, tuple(values), self._origin(part, key))

    def _origin(self, *path: str) -> str:
        return self.source.origins.get(("sweep", *path), self.source.where(("sweep",)))


def _draw(points: int, ranges: Mapping[str, tuple[Range, str]], seed: int) -> Axis:
    """A Latin hypercube over the ranges, in their order; the same for the same seed."""
    from scipy.stats import qmc

    unit = qmc.LatinHypercube(len(ranges), rng=stream(seed, 0, "sweep")).random(points)
    columns = [_stretch(column, each) for column, (each, _) in zip(unit.T, ranges.values(), strict=True)]
    rows = tuple(zip(*columns, strict=True))
    return Axis("random", tuple(ranges), rows, tuple(origin for _, origin in ranges.values()))


def _stretch(unit: FloatArray, each: Range) -> list[Any]:
    """Values in [0, 1) to the range; of whole numbers every one gets its share, the last one too."""
    low, high = each.low, each.high + each.integer
    values = low * (high / low) ** unit if each.scale == "log" else low + unit * (high - low)
    if each.integer:
        return [int(value) for value in np.clip(np.floor(values), each.low, each.high)]
    return [float(value) for value in np.clip(values, each.low, each.high)]


def _seed(source: Source, sets: Sequence[Typed]) -> int:
    """The seed of the draws: the scenario's, unless the command line gives one."""
    given = {each.key: each.values[0] for each in sets if len(each.values) == 1}
    seed = given.get("seed", source.data.get("seed", 0))
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ScenarioError(source.where(("seed",)), json.dumps(seed), "a whole number of at least 0")
    return seed


def _refuse_sizes(axes: Sequence[Axis], num_random: int | None, source: Source) -> None:
    """Refuse a design without an axis, with a key on two axes, or with too many points."""
    where = source.where(("sweep",)) if "sweep" in source.data else source.file
    if num_random is None and all(axis.kind == "fixed" for axis in axes):
        hint = "Give one, such as --set batching.size=32,64,128, or write a sweep: block."
        raise ScenarioError(where, "nothing to sweep", "a key with several values", hint)
    seen: set[str] = set()
    for axis in axes:
        for key, origin in zip(axis.keys, axis.origins, strict=True):
            if key in seen:
                raise ScenarioError(origin, f"the key {key} on two axes", "each key once")
            seen.add(key)
    points = (num_random or 1) * math.prod(len(axis.rows) for axis in axes)
    if points > MOST_POINTS:
        hint = "Give fewer values, or draw some: --random N --range key=low,high."
        raise ScenarioError(where, f"{points:,} points", f"at most {MOST_POINTS:,}", hint)

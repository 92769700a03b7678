"""How the comparison page shows its contenders, its metrics and their intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.chart import plain
from reports.metrics import HEADLINES as HEADLINE_METRICS
from reports.metrics import known_metrics, unit_for
from reports.series import COLORS, DASHES, SYMBOLS
from reports.text import MISSING, Unit, number
from sim.compare import Comparison
from sim.compare_differences import HEADLINES
from sim.compare_stats import Interval

__all__ = ["Look", "Shown", "key_of", "looks_of", "shown_metrics"]


@dataclass(frozen=True, slots=True)
class Look:
    """A contender, by its place in their order, with the colour, dash and symbol it keeps in every figure."""

    name: str
    slot: int

    @property
    def color(self) -> int:
        """Slot of the palette."""
        return self.slot % COLORS

    @property
    def dash(self) -> int:
        """Index into DASHES; another one when the colours begin again."""
        return self.slot // COLORS % len(DASHES)

    @property
    def css(self) -> str:
        """The colour as a CSS variable; the page resolves it for its theme."""
        return f"var(--s{self.color})"

    @property
    def symbol(self) -> str:
        """A marker symbol of a figure."""
        return SYMBOLS[(self.color + self.dash) % len(SYMBOLS)]

    @property
    def label(self) -> str:
        """The name as Plotly must be given it."""
        return plain(self.name)


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric as the page shows it: title, unit, and which way is better (+1, −1, 0 = neither)."""

    name: str
    title: str
    better: int
    unit: Unit

    @property
    def difference(self) -> Unit:
        """The unit of differences."""
        return replace(self.unit, name=self.unit.name if self.unit.delta is None else self.unit.delta, signed=True)

    @property
    def arrow(self) -> str:
        """Which way is better, as a sign after the title."""
        return {1: " ↑", -1: " ↓"}.get(self.better, "")

    def text(self, found: Interval, *, difference: bool = False) -> str:
        """The mean with its interval: two digits of the interval's half width, and its ends in brackets.

        >>> Shown("hit_rate", "Hit rate", 1, Unit("%", 100.0, delta="pp")).text(Interval(0.5, 0.01, 3, 0.457, 0.543))
        '50.0 % (45.7 to 54.3)'
        """
        unit = self.difference if difference else self.unit
        if found.mean is None:
            return MISSING
        tail = f" {unit.name}" if unit.name else ""
        if found.low is None or found.high is None:
            return number(found.mean * unit.scale, signed=unit.signed) + tail
        half = (found.high - found.low) / 2 * unit.scale
        decimals = min(max(0, 1 - math.floor(math.log10(half))), unit.decimals) if half > 0 else None
        mean, low, high = (
            number(value * unit.scale, decimals, signed=unit.signed) for value in (found.mean, found.low, found.high)
        )
        return f"{mean}{tail} ({low} to {high})" if half > 0 else mean + tail

    def ends(self, ends: tuple[float, float] | None, like: Interval) -> str:
        """The ends of another interval of the same difference."""
        if ends is None:
            return "–"
        told = self.text(Interval(like.mean, like.se, like.n, *ends), difference=True)
        return told.partition("(")[2].rstrip(")") or "no spread"


def key_of(*parts: object) -> str:
    """A figure's id, which also is its file's name.

    >>> key_of("level", "batching.size", "a b/c")
    'level-batching.size-a-b-c'
    """
    return "-".join(re.sub(r"[^\w.-]", "-", str(part)) for part in parts)


def looks_of(comparison: Comparison) -> tuple[Look, ...]:
    """A look for each contender, in their order."""
    return tuple(Look(name, slot) for slot, name in enumerate(comparison.contenders))


def shown_metrics(comparison: Comparison) -> tuple[Shown, ...]:
    """The headline metrics that were measured, each in one unit for the whole page."""
    titles = {metric.name: metric.title for metric in known_metrics([dict.fromkeys(comparison.metrics, None)])}
    better = {metric.name: metric.better for metric in HEADLINE_METRICS}
    names = [name for name in HEADLINES if name in comparison.metrics] or list(comparison.metrics)
    return tuple(_shown(comparison, name, titles[name], better.get(name, _better(name))) for name in names)


def _shown(comparison: Comparison, name: str, title: str, better: int) -> Shown:
    means: Sequence[float | None] = [
        comparison.estimate(setting, contender, name).mean
        for setting in comparison.settings
        for contender in setting.rows
    ]
    return Shown(name, title, better, unit_for(name, means))


def _better(name: str) -> int:
    return -1 if name.endswith(("_ms", "_s")) else +1

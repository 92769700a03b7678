"""A series: one schedule of one run, with the colour, dash and symbol it keeps in every figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from reports.load import Run

__all__ = ["COLORS", "DASHES", "SYMBOLS", "Estimate", "Series", "series_of"]

#: Slots of the palette; `templates/page.css` gives each its colour in light and in dark.
COLORS = 8
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
#: A difference of less than this share of the mean is shown as none: rounding of doubles, or microseconds a minute.
_NO_DIFFERENCE = 1e-6
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "hexagon")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over n trials and its standard error; None = not reported (or, for `se`, a single trial)."""

    mean: float | None
    se: float | None
    n: int

    @classmethod
    def read(cls, record: Mapping[str, Any] | None, mean_key: str = "mean") -> Estimate:
        """From a record of summary.json; anything that is not a finite number is None."""
        record = record or {}
        return cls(finite(record.get(mean_key)), finite(record.get("se")), int(record.get("n") or 0))


def finite(number: object) -> float | None:
    """`number` as a float, None when it is no finite number."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return float(number)


@dataclass(frozen=True, slots=True)
class Series:
    """One schedule of one run.

    Attributes
    ----------
    run : the run it belongs to.
    schedule : its label in the scenario.
    label : what the page calls it: the schedule, or run/schedule when several runs share the page.
    color : slot of the palette, 0 … COLORS − 1.
    dash : index into DASHES.
    """

    run: Run
    schedule: str
    label: str
    color: int
    dash: int

    @property
    def record(self) -> Mapping[str, Any]:
        """This schedule's part of summary.json."""
        found: Mapping[str, Any] = self.run.summary["schedules"][self.schedule]
        return found

    @property
    def css(self) -> str:
        """The colour as a CSS variable; the page resolves it for its theme."""
        return f"var(--s{self.color})"

    @property
    def line(self) -> dict[str, Any]:
        """A line style of a figure."""
        return {"color": self.css, "dash": DASHES[self.dash], "width": 2}

    @property
    def symbol(self) -> str:
        """A marker symbol of a figure."""
        return SYMBOLS[(self.color + self.dash) % len(SYMBOLS)]

    @property
    def reference(self) -> str:
        """The schedule of this run that the paired differences are taken against."""
        return self.run.schedules[0]

    def metric(self, name: str) -> Estimate:
        """Mean over trials of a metric of summary.json."""
        return Estimate.read(self.record.get(name))

    def paired(self, name: str) -> Estimate:
        """Mean over trials of the difference to the run's first schedule; less than a millionth counts as 0."""
        found = Estimate.read(self.record.get("paired", {}).get(name), "diff")
        least = _NO_DIFFERENCE * abs(self.metric(name).mean or 0.0)

        def rounded(number: float | None) -> float | None:
            return 0.0 if number is not None and abs(number) <= least else number

        return Estimate(rounded(found.mean), rounded(found.se), found.n)

    def rows(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of one of the run's tables that belong to this schedule."""
        return table.filter(pl.col("schedule") == self.schedule)

    def first_trial(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of the first trial: what is drawn over time is one history, not a mean of several."""
        rows = self.rows(table)
        return rows.filter(pl.col("trial") == rows["trial"].min()) if len(rows) else rows


def series_of(runs: Sequence[Run]) -> tuple[Series, ...]:
    """Every schedule of every run.

    A schedule has one colour, and each further run another dash. Where all runs have the same single schedule
    the colour tells the runs apart instead.
    """
    names = list(dict.fromkeys(schedule for run in runs for schedule in run.schedules))
    found = []
    for position, run in enumerate(runs):
        for schedule in run.schedules:
            slot = position if len(names) == 1 else names.index(schedule)
            dash = slot // COLORS + (0 if len(names) == 1 else position)
            label = f"{run.label}/{schedule}" if run.label else schedule
            found.append(Series(run, schedule, label, slot % COLORS, dash % len(DASHES)))
    return tuple(found)

"""The tables of the comparison page: one for every figure, and what was found and missed where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.compare_look import Shown
from reports.compare_slices import Slices
from reports.figures.sweep_lines import value_at
from sim.compare import Comparison, Setting
from sim.compare_differences import Difference
from sim.compare_keys import short

__all__ = ["ROWS", "Table", "difference_table", "overall_table", "setting_rows", "slice_table"]

#: Rows shown of a long table; `--json` has them all.
ROWS = 120


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title; `note` says what was cut off."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def overall_table(comparison: Comparison, metrics: Sequence[Shown]) -> Table:
    """Contenders and their metrics, averaged over the settings at which all of them were run."""
    settings = comparison.complete
    over = f"Means over {len(settings):,} of {len(comparison.settings):,} settings" if len(settings) > 1 else "Means"
    return Table(
        f"{over}, with 95 % t intervals over trials",
        (comparison.by, *(f"{shown.title}{shown.arrow}" for shown in metrics)),
        tuple(
            (name, *(shown.text(comparison.average(settings, name, shown.name)) for shown in metrics))
            for name in comparison.contenders
        ),
        "" if settings else "At no setting were all of them run: there is nothing to average over.",
    )


def slice_table(
    comparison: Comparison, places: Sequence[int], cut: Slices, shown: Shown, *, difference: bool = False
) -> Table:
    """The numbers of a figure over the axes of these indices: a row a point, a column a contender."""
    names = [name for name in comparison.contenders if not (difference and name == comparison.baseline)]
    heads = tuple(comparison.axes[place].key for place in places)
    points = [tuple(there) for there in cut.at.values()] if cut.averaged else [(each,) for each in comparison.settings]
    rows = []
    for there in points[:ROWS]:
        values = (short(there[0].values[place]) for place in places)
        rows.append((*values, *(_text(comparison, there, name, shown, difference=difference) for name in names)))
    title = f"{shown.title}, difference to {comparison.baseline}" if difference else shown.title
    return Table(title, (*heads, *names), tuple(rows), _cut_off(len(points)))


def _text(comparison: Comparison, settings: Sequence[Setting], name: str, shown: Shown, *, difference: bool) -> str:
    return shown.text(value_at(comparison, settings, name, shown.name, difference=difference), difference=difference)


def difference_table(comparison: Comparison, found: Sequence[Difference], metrics: Mapping[str, Shown]) -> Table:
    """Paired differences with both intervals and whether one can be told; over all settings first."""
    ranked = sorted(found, key=lambda each: each.setting is not None)
    rows = []
    for each in ranked[:ROWS]:
        shown, interval = metrics[each.metric], each.interval
        told = {True: "yes", False: "no difference told", None: "one pair: no interval"}[interval.told]
        mean, _, ends = shown.text(interval, difference=True).partition(" (")
        where = "mean over the settings" if each.setting is None else comparison.name_of(each.setting)
        cells = (mean, ends.rstrip(")") or "–", shown.ends(each.bootstrap, interval), str(interval.n), told)
        rows.append((where, shown.title, each.contender, *cells))
    heads = ("Setting", "Metric", comparison.by, "Difference", "t interval", "Bootstrap interval", "n", "Told?")
    return Table(f"Paired differences to {comparison.baseline}", heads, tuple(rows), _cut_off(len(ranked)))


def setting_rows(comparison: Comparison, links: Mapping[int, str]) -> list[Mapping[str, Any]]:
    """Every setting: its values, which contenders it has, its pages, and what makes it again; at most `ROWS`."""
    rows: list[Mapping[str, Any]] = []
    for setting in comparison.settings[:ROWS]:
        commands = dict.fromkeys(row.command for row in setting.rows.values())
        if setting.missing is not None:
            commands.setdefault(setting.missing.command)
        absent = [name for name in comparison.contenders if name not in setting.rows]
        trials = sorted({len(row.trials) for row in setting.rows.values()})
        rows.append(
            {
                "name": comparison.name_of(setting),
                "n": " to ".join(map(str, dict.fromkeys((trials[0], trials[-1])))) if trials else "0",
                "absent": ", ".join(absent),
                "why": setting.missing.reason if setting.missing else "",
                "pages": list(dict.fromkeys(links[id(row)] for row in setting.rows.values() if id(row) in links)),
                "command": "\n".join(commands),
            }
        )
    return rows


def _cut_off(count: int) -> str:
    return f"The first {ROWS:,} of {count:,} rows; `compare --json` has them all." if count > ROWS else ""

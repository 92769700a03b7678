"""What is compared: one schedule at one setting is a row; folders give rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Missing", "Row", "Source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One schedule at one setting.

    Attributes
    ----------
    source : index of the folder it comes from.
    place : the run folder's name, or the number of the sweep's cell.
    schedule : its label.
    settings : what the sweep's design set, by key; empty for a run.
    facts : the resolved scenario as this schedule sees it, dotted key → scalar (`sim.compare_keys`).
    trials : the metrics of each trial, in trial order.
    requests : digest of what decides the requests; rows with equal digests met the same ones.
    command : what makes it again, as a run.
    page : the run's page, None where there is none.
    repeat : 1, 2, … of measurements at one setting that differ (`sim.compare_repeats`).
    """

    source: int
    place: str
    schedule: str
    settings: Mapping[str, Any]
    facts: Mapping[str, Any]
    trials: tuple[Mapping[str, Any], ...]
    requests: str
    command: str
    page: Path | None = None
    repeat: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A cell of a sweep's design without a result, and why."""

    source: int
    place: str
    settings: Mapping[str, Any]
    reason: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One folder that was given.

    Attributes
    ----------
    name, status : the scenario's name, and whether the run or sweep is complete.
    axes : the keys of the design, in order; empty for a run.
    drawn : those of them whose values were drawn at random, so that hardly two points share one.
    facts : those of its first row, also where that is a repeat of another source's.
    scenario : the (first) resolved scenario.
    card : versions and latency profile as recorded, None where they are not.
    """

    folder: Path
    name: str
    status: str
    axes: tuple[str, ...]
    drawn: tuple[str, ...] = ()
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)

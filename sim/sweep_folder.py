"""The folder of a sweep: `sweep.json` says what it is, `results.parquet` what came out; cells lie beside them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError
from sim.metrics import DEFINITIONS
from sim.run_folder import check_folder, parquet, safe_name, strict_json, write_bytes, write_text
from sim.sweep import Plan, SweepOutcome
from sim.sweep_cell import package_version, plain_json
from sim.sweep_design import Design
from sim.sweep_frame import axis_column, frame_of

__all__ = ["SweepFolder", "sweep_path"]

#: Bytes of a cell's file: what every one holds, and what a trial of a schedule adds. Generous, to notice a full disk.
CELL_BYTES, TRIAL_BYTES = 20_000, 2_000


def sweep_path(parent: Path, name: str, digest: str) -> Path:
    """`<name>-<8 hex of the design>`: the same sweep has the same folder, so that it resumes."""
    return parent / f"{safe_name(name)}-{digest}"


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """What is written of one sweep, and where."""

    path: Path
    name: str
    design: Design
    plan: Plan

    def prepare(self) -> None:
        """Write `sweep.json` as of a sweep that has nothing yet.

        Raises
        ------
        ScenarioError
            The folder cannot be written, or its disk has no room for the cells.
        """
        check_folder(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        scenario = self.plan.points[0].scenario
        need = len(set(self.plan.keys)) * (CELL_BYTES + TRIAL_BYTES * scenario.trials * len(scenario.schedules))
        free = shutil.disk_usage(self.path).free
        if free < need:
            found, expected = f"{free / 1e6:,.0f} MB free", f"{need / 1e6:,.0f} MB for the cells"
            raise ScenarioError(f"--out {self.path}", found, expected, "Name a folder on another disk.")
        write_text(self.path / "sweep.json", strict_json(self.describe("partial", {})))

    def finish(self, outcome: SweepOutcome) -> tuple[dict[str, Any], int]:
        """Write `results.parquet` of the cells that are there, then `sweep.json`.

        Returns the content of the latter, and how many requests were served in all cells.
        """
        settings = [self.design.settings(index) for index in range(len(self.design))]
        served = Counter[str]()
        write_bytes(self.path / "results.parquet", parquet(frame_of(settings, _counting(outcome.cells, served))))
        description = self.describe(outcome.status, outcome.failures)
        write_text(self.path / "sweep.json", strict_json(description))
        return description, served["ok"]

    def describe(self, status: str, failures: dict[int, str]) -> dict[str, Any]:
        """`sweep.json`: the scenario with what is fixed, the axes in order, every point with its cell, what failed."""
        scenario, keys = self.plan.points[0].scenario, self.plan.keys
        axes = [axis for axis in self.design.axes if axis.kind != "fixed"]
        return {
            "name": self.name,
            "status": status,
            "version": package_version(),
            "scenario": str(scenario.path),
            "fixed": {
                key: plain_json(value)
                for axis in self.design.axes
                if axis.kind == "fixed"
                for key, value in zip(axis.keys, axis.rows[0], strict=True)
            },
            "axes": [
                {"key": key, "design": axis.kind, "values": _distinct([row[column] for row in axis.rows])}
                for axis in axes
                for column, key in enumerate(axis.keys)
            ],
            "points": [
                {"cell": cell, "key": key, "settings": plain_json(self.design.settings(cell))}
                for cell, key in enumerate(keys)
            ],
            "definitions": DEFINITIONS,
            "seeds": {
                "seed": scenario.seed,
                "trials": scenario.trials,
                "stream": "PCG64(SeedSequence(seed, (trial, crc32(name))))",
            },
            "failures": [{"cell": cell, "key": keys[cell], "error": error} for cell, error in failures.items()],
        }


def _counting(cells: Iterable[dict[str, Any] | None], statuses: Counter[str]) -> Iterator[dict[str, Any] | None]:
    """The cells, while the statuses of their requests are added up."""
    for cell in cells:
        for schedule in cell["summary"]["schedules"].values() if cell else ():
            statuses.update(schedule["statuses"])
        yield cell


def _distinct(values: Sequence[Any]) -> list[Any]:
    """The values in order of appearance, each once."""
    spelled = axis_column([plain_json(value) for value in values])
    first: dict[Any, Any] = {}
    for text, value in zip(spelled, values, strict=True):
        first.setdefault(text, plain_json(value))
    return list(first.values())

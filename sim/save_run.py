"""From a run's result to its folder on disk (DESIGN.md, Files)."""

from __future__ import annotations

import functools
import io
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.run_folder import folder_name, parquet, run_folder, strict_json
from sim.scenario import Scenario
from sim.simulate import RunResult

if TYPE_CHECKING:
    import polars as pl

__all__ = ["save_run"]

PACKAGES = ("inference-auctions", "numpy", "simpy", "polars", "plotly")


def save_run(
    scenario: Scenario, result: RunResult, *, profile: dict[str, Any] | None, started: datetime, parent: Path
) -> Path:
    """Write the run folder below `parent` and return its path; nothing is left behind when that fails.

    Equal seeds give byte-equal Parquet files and summary.json; times of the wall clock stand in manifest.json only.
    """
    name = folder_name(scenario.name, started)
    with run_folder(parent, name) as folder:
        for file, parts in result.frames.items():
            (folder / f"{file}.parquet").write_bytes(parquet(_concat(parts)))
        (folder / "summary.json").write_text(strict_json(result.summary), encoding="utf-8")
        (folder / "scenario.yaml").write_text(_yaml(scenario.resolved()), encoding="utf-8")
        if result.pacing:
            cells = [cell.to_json() for cell in result.pacing]
            (folder / "pacing.json").write_text(strict_json({"cells": cells}), encoding="utf-8")
        if result.tree is not None:
            (folder / "tree.json").write_text(strict_json(result.tree), encoding="utf-8")
        manifest = _manifest(scenario, result, profile, started)
        (folder / "manifest.json").write_text(strict_json(manifest), encoding="utf-8")
    return parent / name


def _concat(parts: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(parts)


def _manifest(
    scenario: Scenario, result: RunResult, profile: dict[str, Any] | None, started: datetime
) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "status": result.status,
        "started_at": started.astimezone(UTC).isoformat(timespec="seconds"),
        "duration_s": (datetime.now(UTC) - started).total_seconds(),
        "auction_s": result.auction_s,
        "seed": scenario.seed,
        "trials": scenario.trials,
        "config_hash": scenario.config_hash,
        "backend": scenario.resolved()["backend"],
        "profile": profile,
        "server": result.server or None,
        "versions": _versions(),
        "warnings": result.warnings,
        "dropped": result.dropped,
        "facts": result.facts,
    }


@functools.cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


def _yaml(data: dict[str, Any]) -> str:
    from ruamel.yaml import YAML

    yaml, text = YAML(), io.StringIO()
    yaml.width = 120
    yaml.dump(data, text)
    return text.getvalue()

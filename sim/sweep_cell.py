"""One cell of a sweep: its name by content, its run, its file.

A cell's file holds nothing that depends on the clock, the machine, the number of jobs or who executed it, so equal
keys mean equal bytes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mechanism.errors import AuctionsError
from sim.errors import BackendError
from sim.run_files import no_number
from sim.run_folder import strict_json, write_text
from sim.scenario import Scenario, scenario_of
from sim.yaml_source import Source

__all__ = [
    "CellTask",
    "cell_file",
    "cell_key",
    "failure_file",
    "package_version",
    "plain_json",
    "read_cell",
    "read_failure",
    "run_cell",
]


@dataclass(frozen=True, slots=True)
class CellTask:
    """A cell as plain data, for a worker anywhere that sees the same folder.

    Attributes
    ----------
    scenario : as resolved; `file` is where it was read from, for messages.
    folder : holds ``cells/`` and ``failures/``.
    """

    key: str
    scenario: dict[str, Any]
    file: str
    folder: Path
    backend_types: Mapping[str, type[Any]]


def cell_key(scenario: Scenario) -> str:
    """SHA-256 over everything that decides a cell's file: the configuration, the latency profile, our version."""
    decides = [scenario.config_hash, package_version(), scenario.backend.config.card()]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


@functools.cache
def package_version() -> str:
    """The version whose rules made a cell."""
    return version("inference-auctions")


def cell_file(folder: Path, key: str) -> Path:
    """Where a finished cell lies."""
    return folder / "cells" / f"{key}.json"


def failure_file(folder: Path, key: str) -> Path:
    """Where a cell that failed says why."""
    return folder / "failures" / f"{key}.json"


def read_cell(folder: Path, key: str) -> dict[str, Any] | None:
    """A finished cell; None where there is none, or where its file was damaged afterwards."""
    cell = _object(cell_file(folder, key))
    return cell if cell is not None and (cell.get("key"), cell.get("status")) == (key, "complete") else None


def read_failure(folder: Path, key: str) -> str | None:
    """Why a cell failed; None where none did, or where its file was damaged afterwards."""
    failure = _object(failure_file(folder, key))
    return None if failure is None else str(failure.get("error"))


def run_cell(task: CellTask) -> tuple[str, str | None]:
    """Run a cell and write its file; returns its key, and why it failed if it did.

    Raises
    ------
    OSError
        Its file cannot be written: no other cell's could.
    KeyboardInterrupt
        It was interrupted; nothing is written.
    """
    try:
        content = strict_json(_content(task))
    except (Exception, SystemExit) as error:  # a plug-in that leaves ends its cell, not the sweep
        return task.key, note_failure(task, error)
    write_text(cell_file(task.folder, task.key), content)
    failure_file(task.folder, task.key).unlink(missing_ok=True)
    return task.key, None


def note_failure(task: CellTask, error: BaseException) -> str:
    """Write why a cell failed, and return it in one line; an error without a message of ours keeps its traceback."""
    ours = isinstance(error, AuctionsError)
    message = str(error) if ours else f"{type(error).__name__}: {error}"
    details = {"key": task.key, "error": message, "traceback": None if ours else traceback.format_exception(error)}
    write_text(failure_file(task.folder, task.key), strict_json(details))
    return message


def plain_json(value: Any) -> Any:
    """The value with infinity as YAML spells it, for JSON has no word for it."""
    if isinstance(value, dict):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    return ".inf" if isinstance(value, float) and math.isinf(value) and value > 0 else value


def _object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none."""
    try:
        loaded = json.loads(path.read_bytes(), parse_constant=no_number)
    except (FileNotFoundError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _content(task: CellTask) -> dict[str, Any]:
    from sim.simulate import run

    scenario = scenario_of(Source(task.file, task.scenario, {}), task.backend_types)
    result = run(scenario, scenario.backend.config, records=False)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    if result.status != "complete":
        raise BackendError("; ".join(result.warnings) or "the server was lost on the way")
    return {
        "key": task.key,
        "config_hash": scenario.config_hash,
        "version": package_version(),
        "scenario": plain_json(scenario.resolved()),
        "summary": result.summary,
        "facts": result.facts,
        "warnings": result.warnings,
        "status": "complete",
    }

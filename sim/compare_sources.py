"""Run folders and sweep folders as rows: one schedule at one setting, with its metrics trial by trial.

Records only: nothing is run, and no plugin is loaded.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.compare_keys import facts_of, word
from sim.compare_rows import Missing, Row, Source
from sim.errors import ScenarioError
from sim.run_files import check_shape, read_object
from sim.sweep_cell import cell_file, plain_json, read_cell, read_failure

__all__ = ["load_sources"]

#: Blocks of a scenario that decide which requests come, what they are worth, and when.
_REQUESTS = ("seed", "workload", "users", "values", "arrivals")


def load_sources(folders: Sequence[Path]) -> tuple[Source, ...]:
    """Every folder once, in the order given.

    Raises
    ------
    ScenarioError
        No folder; one that is neither a run nor a sweep; a file in it that is not what its name says.
    """
    unique = list(dict.fromkeys(folder.resolve() for folder in folders))
    if not unique:
        raise ScenarioError("compare", "no folder", "run folders and sweep folders")
    return tuple(_load(number, folder) for number, folder in enumerate(unique))


def _load(number: int, folder: Path) -> Source:
    if (folder / "sweep.json").is_file():
        return _sweep(number, folder)
    if (folder / "summary.json").is_file():
        return _run(number, folder)
    expected = "a run folder (summary.json) or a sweep folder (sweep.json)"
    found = "no such folder" if not folder.is_dir() else "neither file"
    raise ScenarioError(str(folder), found, expected, "`simulate` writes runs/…, `sweep` writes runs/sweeps/….")


def _run(number: int, folder: Path) -> Source:
    summary, manifest = read_object(folder, "summary.json"), read_object(folder, "manifest.json")
    scenario = _scenario(folder / "scenario.yaml")
    page = folder / "report.html"
    command = f"inference-auctions simulate {shlex.quote(str(folder / 'scenario.yaml'))}"
    rows = tuple(_rows(number, folder.name, {}, scenario, summary, command, page if page.is_file() else None))
    return Source(
        folder=folder,
        name=str(manifest.get("name") or folder.name),
        status=str(manifest.get("status", "not reported")),
        axes=(),
        rows=rows,
        facts=rows[0].facts if rows else {},
        scenario=scenario,
        card={key: manifest.get(key) for key in ("versions", "profile")},
        warnings=tuple(manifest.get("warnings") or ()),
        definitions=summary.get("definitions") or {},
    )


def _sweep(number: int, folder: Path) -> Source:
    """A sweep's cells as they lie on disk: also of one that was killed before its results were gathered."""
    design = read_object(folder, "sweep.json")
    rows: list[Row] = []
    missing: list[Missing] = []
    first: Mapping[str, Any] = {}
    warnings: dict[str, None] = {}
    for point in design["points"]:
        key, settings, name = point["key"], point["settings"], f"cell {point['cell']}"
        command = _command(design, settings)
        cell = read_cell(folder, key)
        if cell is None:
            reason = read_failure(folder, key) or "not run yet"
            missing.append(Missing(source=number, place=name, settings=settings, reason=reason, command=command))
            continue
        check_shape(cell_file(folder, key), cell, "cell")
        first = first or cell
        warnings |= dict.fromkeys(cell["warnings"])
        rows += _rows(number, name, settings, cell["scenario"], cell["summary"], command)
    return Source(
        folder=folder,
        name=str(design["name"]),
        status=str(design["status"]),
        axes=tuple(axis["key"] for axis in design["axes"]),
        drawn=tuple(axis["key"] for axis in design["axes"] if axis["design"] == "random"),
        rows=tuple(rows),
        facts=rows[0].facts if rows else {},
        missing=tuple(missing),
        scenario=first.get("scenario", {}),
        card={"versions": {"inference-auctions": design.get("version")}, "profile": None},
        warnings=tuple(warnings),
        definitions=design.get("definitions") or {},
    )


def _command(design: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """What makes one cell again as a run, to copy into a shell."""
    set_all = {**design["fixed"], **settings}
    pairs = [f"--set {shlex.quote(f'{key}={word(value)}')}" for key, value in set_all.items()]
    return " ".join(["inference-auctions simulate", shlex.quote(str(design["scenario"])), *pairs])


def _rows(
    source: int,
    place: str,
    settings: Mapping[str, Any],
    scenario: Mapping[str, Any],
    summary: Mapping[str, Any],
    command: str,
    page: Path | None = None,
) -> Iterator[Row]:
    """A row for each schedule that finished a trial."""
    requests = json.dumps([plain_json(scenario.get(key)) for key in _REQUESTS], sort_keys=True)
    digest = hashlib.sha256(requests.encode()).hexdigest()[:16]
    for label, record in summary["schedules"].items():
        if record.get("trials"):
            yield Row(
                source=source,
                place=place,
                schedule=label,
                settings=settings,
                facts=facts_of(scenario, label),
                trials=tuple(record["trials"]),
                requests=digest,
                command=command,
                page=page,
            )


def _scenario(path: Path) -> Mapping[str, Any]:
    from sim.yaml_source import read_yaml

    return read_yaml(path).data

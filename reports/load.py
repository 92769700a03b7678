"""A run folder as a report sees it: records on disk, typed, nothing computed (DESIGN.md, Files)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sim.errors import ScenarioError
from sim.run_files import read_object, read_table, run_file
from sim.yaml_source import read_yaml

__all__ = ["Run", "load_run", "load_runs"]

_TEXT, _COUNT, _REAL = pl.String(), pl.Int64(), pl.Float64()
_Columns = dict[str, pl.DataType]


def _columns(*, text: str = "", count: str = "", real: str = "") -> _Columns:
    groups: tuple[tuple[str, pl.DataType], ...] = ((text, _TEXT), (count, _COUNT), (real, _REAL))
    return {name: dtype for names, dtype in groups for name in names.split()}


#: What the page reads of each table; other columns may stand beside these.
REQUESTS = _columns(
    text="schedule user status error",
    count="trial prompt_tokens cached_tokens output_tokens",
    real="admitted_s first_token_s ttft_s bid",
)
AUCTIONS = _columns(text="schedule", count="trial batch", real="scheduled_welfare revenue")
PAYMENTS = _columns(
    text="schedule user",
    count="trial batch num_requests",
    real="declared_value obtained_value payment utility",
)
ENGINE_STEPS = _columns(text="schedule", count="trial kv_used_tokens", real="start_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run folder.

    Attributes
    ----------
    folder : where it lies.
    name : the scenario's name.
    label : what tells this run from the others on one page; empty when it is the only one.
    scenario_text, scenario : the resolved YAML, as text and as data.
    manifest, summary : the two JSON files.
    requests, auctions, payments : the tables, one row a request, an auction, a user of an auction.
    engine_steps : one row an engine step, None where the backend records none.
    tree : the first levels of the first batch's prompt tree (`sim.tree_summary`), None where not written.
    """

    folder: Path
    name: str
    label: str
    scenario_text: str
    scenario: Mapping[str, Any]
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    requests: pl.DataFrame
    auctions: pl.DataFrame
    payments: pl.DataFrame
    engine_steps: pl.DataFrame | None
    tree: Mapping[str, Any] | None

    @property
    def schedules(self) -> tuple[str, ...]:
        """Labels of the schedules, the one the others are compared with first."""
        return tuple(self.summary["schedules"])


def load_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    """Several run folders with labels that tell them apart; a folder given twice counts once."""
    unique = list(dict.fromkeys(folder.resolve() for folder in folders))
    if not unique:
        raise ScenarioError("report", "no run folder", "at least one", "Give the path of a folder in runs/.")
    names = [str(read_object(folder, "manifest.json").get("name") or folder.name) for folder in unique]
    if len(unique) == 1:
        return (load_run(unique[0]),)
    return tuple(load_run(folder, label) for folder, label in zip(unique, _labels(unique, names), strict=True))


def load_run(folder: Path, label: str = "") -> Run:
    """Read one run folder.

    Raises
    ------
    ScenarioError
        A file or a column is missing, or a file is not what its name says.
    """
    manifest, summary = read_object(folder, "manifest.json"), read_object(folder, "summary.json")
    if not summary.get("schedules"):
        raise ScenarioError(f"{folder}/summary.json: schedules", "nothing", "at least one schedule")
    scenario = read_yaml(run_file(folder, "scenario.yaml"))
    has_tree = (folder / "tree.json").exists()
    has_steps = (folder / "engine_steps.parquet").exists()
    return Run(
        folder=folder,
        name=str(manifest.get("name") or folder.name),
        label=label,
        scenario_text=Path(scenario.file).read_text(encoding="utf-8-sig"),
        scenario=scenario.data,
        manifest=manifest,
        summary=summary,
        requests=_table(folder, "requests.parquet", REQUESTS),
        auctions=_table(folder, "auctions.parquet", AUCTIONS),
        payments=_table(folder, "payments.parquet", PAYMENTS),
        engine_steps=_table(folder, "engine_steps.parquet", ENGINE_STEPS) if has_steps else None,
        tree=read_object(folder, "tree.json") if has_tree else None,
    )


def _labels(folders: Sequence[Path], names: Sequence[str]) -> list[str]:
    """The scenario's name where that tells runs apart, else with the folder's last part, else the folder."""
    twins = Counter(names)
    labels = [
        name if twins[name] == 1 else f"{name} {folder.name.rsplit('-', 1)[-1]}"
        for name, folder in zip(names, folders, strict=True)
    ]
    twins = Counter(labels)
    return [label if twins[label] == 1 else str(folder) for label, folder in zip(labels, folders, strict=True)]


def _table(folder: Path, name: str, columns: _Columns) -> pl.DataFrame:
    """The columns the page uses; NaN and ±inf become null, for nothing on the page may be one."""
    reals = [column for column, dtype in columns.items() if dtype == _REAL]
    return read_table(folder, name, columns).with_columns(
        pl.when(pl.col(column).is_finite()).then(pl.col(column)).alias(column) for column in reals
    )

"""From what the person at the keyboard names, a file and its format or a scenario, to a description."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sim import plugins
from sim.describe import Description, describe
from sim.errors import ScenarioError
from sim.reading import read_lines
from sim.rng import stream
from sim.scenario import Workload, load_scenario
from sim.scenario_blocks import KIND_FOLDERS, choose, find_in
from sim.yaml_source import Source, parse_value

__all__ = ["describe_trace", "kinds_of"]


def describe_trace(
    path: Path, kind: str | None, overrides: Sequence[str], kv_tokens: int, backend_types: Mapping[str, type[Any]]
) -> Description:
    """Describe a trace, or the workload of a scenario (its first trial).

    Parameters
    ----------
    path : a trace, or a scenario (`.yaml`, `.yml`).
    kind : the trace's format; None only for scenarios.
    overrides : ``"key=value"`` with the value in YAML; keys of the workload for a trace, of the scenario for one.
    kv_tokens : a KV capacity that prompts are compared with.

    Raises
    ------
    ScenarioError
        No kind for a trace: formats differ in their units, so none is guessed; the message says which would read it.
        Or whatever the workload refuses.
    """
    if kind is None and path.suffix in {".yaml", ".yml"}:
        scenario = load_scenario(path, backend_types, overrides)
        kind, workload, seed = scenario.workload_kind, scenario.workload, scenario.seed
    elif not path.exists():
        raise ScenarioError(str(path), "no such file", "a trace")
    elif kind is None:
        raise _no_kind(path)
    else:
        workload, seed = _workload(path, kind, overrides), 0
    return describe(workload.generate(partial(stream, seed, 0)), source=str(path), kind=kind, kv_tokens=kv_tokens)


def _workload(path: Path, kind: str, overrides: Sequence[str]) -> Workload:
    source = Source(str(path), {"workload": {"kind": kind, "path": str(path)}}, {("workload", "kind"): "--kind"})
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ScenarioError(f"--set {override}", f'"{override}"', "key=value")
        source.put(("workload", *key.split(".")), parse_value(text, f"--set {key}"), f"--set {key}")
    _, workload = choose(source, ("workload",), source.data["workload"], "kind", find_in(KIND_FOLDERS["workload"]))
    found: Workload = workload
    return found


def kinds_of(keys: frozenset[str]) -> dict[str, str]:
    """The trace formats that could read records with these keys, and how each would take them."""
    folder = str(KIND_FOLDERS["workload"])
    classes = {name: plugins.load(folder, name) for name in plugins.available(folder)}
    return {name: cls.reads for name, cls in classes.items() if keys and getattr(cls, "needs", {None}) <= keys}


def _no_kind(path: Path) -> ScenarioError:
    able = kinds_of(_keys(path))
    if not able:
        names = ", ".join(kinds_of(frozenset().union(*_all_needs())))
        hint = f"Known: {names}; for any other table, kind: table in a scenario."
    elif len(able) == 1:
        (name,) = able
        hint = f"Its keys are those of {name} ({able[name]}): write --kind {name}."
    else:
        choices = "; ".join(f"--kind {name} ({reads})" for name, reads in able.items())
        hint = f"Its keys fit several: {choices}."
    return ScenarioError(str(path), "no --kind", "the format of the trace: units are not guessed", hint)


def _all_needs() -> list[frozenset[str]]:
    folder = str(KIND_FOLDERS["workload"])
    return [getattr(plugins.load(folder, name), "needs", frozenset()) for name in plugins.available(folder)]


def _keys(path: Path) -> frozenset[str]:
    """The keys of the first record, or the columns of the header."""
    if path.is_dir():
        inside = sorted(item for item in path.iterdir() if item.name.removesuffix(".gz").endswith((".json", ".jsonl")))
        return _keys(inside[0]) if inside else frozenset()
    line = next((line.strip() for line in read_lines(path) if line.strip()), "")
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return frozenset(name.strip() for name in next(csv.reader([line]), []))
    return frozenset(record) if isinstance(record, dict) else frozenset()

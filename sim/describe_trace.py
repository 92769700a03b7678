"""From what the person at the keyboard names, a file and its format or a scenario, to a description."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any

from sim import plugins
from sim.describe import KV_TOKENS, Description, describe
from sim.errors import ScenarioError, did_you_mean
from sim.reading import read_lines
from sim.rng import stream
from sim.scenario import Workload, load_scenario
from sim.scenario_blocks import KIND_FOLDERS, choose, find_in
from sim.shipped import shipped_names, shipped_of_kind, shipped_scenario
from sim.workloads._trace import by_arrival
from sim.yaml_source import Source, parse_value

__all__ = ["describe_trace", "kinds_of"]


def describe_trace(
    path: Path,
    kind: str | None,
    overrides: Sequence[str],
    kv_tokens: int | None,
    backend_types: Mapping[str, type[Any]],
) -> Description:
    """Describe a trace, or the workload of a scenario (its first trial).

    Parameters
    ----------
    path : a trace, or a scenario: a file (`.yaml`, `.yml`) or the name of a shipped one.
    kind : the trace's format; None only for scenarios.
    overrides : ``"key=value"`` with the value in YAML; keys of the workload for a trace, of the scenario for one.
    kv_tokens : a KV capacity that prompts are compared with; None = the scenario's, 23,000 where none is stated.

    Raises
    ------
    ScenarioError
        No kind for a trace: formats differ in their units, so none is guessed; the message says which would read it.
        Or whatever the workload refuses.
    """
    if kind is None and (path.suffix in {".yaml", ".yml"} or (not path.exists() and shipped_scenario(str(path)))):
        scenario = load_scenario(path, backend_types, overrides)
        kind, workload, seed = scenario.workload_kind, scenario.workload, scenario.seed
        kv_tokens = kv_tokens or _kv_tokens(scenario.backend.config)
    elif not path.exists():
        raise _no_file(path)
    elif kind is None:
        raise _no_kind(path)
    else:
        workload, seed = _workload(path, kind, overrides), 0
    demand = by_arrival(workload.generate(partial(stream, seed, 0)))
    return describe(demand, source=str(path), kind=kind, kv_tokens=kv_tokens or KV_TOKENS)


def _kv_tokens(backend: Any) -> int | None:
    """The capacity that a backend states, itself or by its profile; None = unbounded, or for the server to say."""
    found = backend.limits().kv_tokens if hasattr(backend, "limits") else getattr(backend, "kv_tokens", None)
    return found if isinstance(found, int) else None


def _workload(path: Path, kind: str, overrides: Sequence[str]) -> Workload:
    source = Source(str(path), {"workload": {"kind": kind, **_path_key(path, kind)}}, {("workload", "kind"): "--kind"})
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ScenarioError(f"--set {override}", f'"{override}"', "key=value")
        source.put(("workload", *key.split(".")), parse_value(text, f"--set {key}"), f"--set {key}")
    _, workload = choose(source, ("workload",), source.data["workload"], "kind", find_in(KIND_FOLDERS["workload"]))
    found: Workload = workload
    return found


def _path_key(path: Path, kind: str) -> dict[str, Any]:
    """The key of this kind that takes the file; for a kind that needs no file, or several, only a scenario will do."""
    folder = str(KIND_FOLDERS["workload"])
    if kind not in plugins.available(folder):
        return {}  # `choose` says so, and what was meant
    needed = [each.name for each in fields(plugins.load(folder, kind)) if each.default is MISSING]
    keys = [name for name in needed if name.endswith(("path", "paths"))]
    if len(keys) == 1:
        if keys == ["paths"]:  # runs, which such a kind replays up to a number of requests: here, once
            return {"paths": [str(path)], "num_requests": None}
        return {keys[0]: str(path)}
    commands = " or ".join(f"describe {name}" for name in shipped_of_kind(kind))
    found = "several files" if keys else "no one file to read"
    hint = f"Write a scenario{f'; shipped ones: {commands}' if commands else ''}."
    raise ScenarioError(f"--kind {kind}", f"a kind with {found}", "a kind that reads one file", hint)


def kinds_of(keys: frozenset[str]) -> dict[str, str]:
    """The trace formats that could read records with these keys, and how each would take them."""
    folder = str(KIND_FOLDERS["workload"])
    classes = {name: plugins.load(folder, name) for name in plugins.available(folder)}
    return {name: cls.reads for name, cls in classes.items() if keys and getattr(cls, "needs", {None}) <= keys}


def _no_file(path: Path) -> ScenarioError:
    return ScenarioError(
        str(path),
        "no such file",
        "a trace, a scenario, or the name of a shipped scenario",
        did_you_mean(str(path), shipped_names()),
    )


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
    number, line = next(((n, line.strip()) for n, line in enumerate(read_lines(path), 1) if line.strip()), (1, ""))
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return _columns(line, f"{path}:{number}")
    except RecursionError:
        raise ScenarioError(f"{path}:{number}", "lists within lists without end", "a record") from None
    except ValueError:  # what is left: Python reads no integer of over 4,300 digits
        found = "an integer of thousands of digits"
        raise ScenarioError(f"{path}:{number}", found, "numbers that fit 64 bits") from None
    return frozenset(record) if isinstance(record, dict) else frozenset()


def _columns(line: str, where: str) -> frozenset[str]:
    try:
        return frozenset(name.strip() for name in next(csv.reader([line]), []))
    except csv.Error as error:
        raise ScenarioError(where, str(error), "a record, or a header of CSV") from error

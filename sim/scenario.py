"""YAML → `Scenario`: one experiment, every default filled in, every plugin an instance, everything checked.

Relative paths (`workload.path`, …) start at the scenario's folder when they stand in the file, and at the current
directory when they come from ``--set``. A resolved scenario has absolute ones, so it loads from anywhere.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sim.arrivals import Arrivals, ClosedLoop, Saturated
from sim.bidding_entries import plain_bidding
from sim.errors import ScenarioError, did_you_mean
from sim.parameters import build, plain
from sim.requests import Demand
from sim.scenario_blocks import (
    BLOCKS,
    KIND_FOLDERS,
    USE_FOLDERS,
    Batching,
    Dispatch,
    Header,
    Validation,
    choose,
    find_in,
)
from sim.scenario_paths import digest_files, resolve_paths
from sim.schedule_entries import ScheduleEntry, check_priorities, read_schedules
from sim.shipped import shipped_names, shipped_scenario
from sim.sweep_block import SweepBlock
from sim.users import Users
from sim.values import Values
from sim.yaml_source import Source, parse_value, read_yaml

__all__ = [
    "BackendEntry",
    "Scenario",
    "ScheduleEntry",
    "Workload",
    "load_scenario",
    "open_scenario",
    "override",
    "scenario_of",
]

KEYS = (*(f.name for f in fields(Header)), *KIND_FOLDERS, *USE_FOLDERS, *BLOCKS, "backend")


class Workload(Protocol):
    """A plugin of `sim/workloads/`: a frozen dataclass whose fields are its YAML parameters."""

    def recorded(self) -> frozenset[str]:
        """Which of "users", "values", "bids", "arrivals" the workload knows; but for bids these are the defaults.

        "sessions" without "arrivals": it knows the pauses between turns; arrivals default to kind sessions.
        """

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """The requests of one trial, in file order; every draw from a stream named "workload-…"."""


@dataclass(frozen=True, kw_only=True)
class BackendEntry:
    """Who serves: the plugin's name and its configuration."""

    use: str
    config: Any  # a sim.backend.BackendConfig; each has methods of its own besides


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One experiment. Block names are the YAML's; `schedules` are its mechanisms.

    Attributes
    ----------
    slo : (metric, limit in ms) of every latency target.
    validation : what `validate` asks of a simulated run.
    sweep : what `sweep` varies; no part of the experiment, so neither resolved nor hashed.
    path : the file it was read from.
    """

    name: str
    seed: int
    trials: int
    warmup_s: float
    cooldown_s: float
    workload_kind: str
    workload: Workload
    users: Users
    values: Values
    arrivals: Arrivals
    batching: Batching
    schedules: tuple[ScheduleEntry, ...]
    dispatch: Dispatch
    slo: tuple[tuple[str, float], ...]
    backend: BackendEntry
    path: Path
    validation: Validation = field(default_factory=Validation)
    sweep: SweepBlock = field(default_factory=SweepBlock)

    @property
    def saturated(self) -> bool:
        """Whether everything waits from the start: then the whole run is one cohort."""
        return isinstance(self.arrivals, Saturated)

    @property
    def closed_loop(self) -> ClosedLoop | None:
        """The clients of a closed loop, where arrivals are one."""
        return self.arrivals if isinstance(self.arrivals, ClosedLoop) else None

    def resolved(self) -> dict[str, Any]:
        """Every key written out; dumped as YAML and loaded again it is the same scenario."""
        payments = {s.label: {"use": s.payment, **plain(s.pricing)} for s in self.schedules}
        return {
            **{f.name: getattr(self, f.name) for f in fields(Header)},
            "workload": {"kind": self.workload_kind, **plain(self.workload)},
            **{key: {"kind": block.kind, **plain(block)} for key, block in self._chosen_by_kind().items()},
            "batching": plain(self.batching),
            "schedule": [{"use": s.use, "label": s.label, **plain(s.rule)} for s in self.schedules],
            "payment": payments,
            "bidding": self._plain_bidding(),
            "dispatch": plain(self.dispatch),
            **({"slo": dict(self.slo)} if self.slo else {}),
            **({"validation": plain(self.validation)} if self.validation != Validation() else {}),
            "backend": {"use": self.backend.use, **plain(self.backend.config)},
        }

    @functools.cached_property
    def config_hash(self) -> str:
        """SHA-256 of everything that decides the result; a file counts by its content, not by where it lies."""
        data = self.resolved()
        data.pop("validation", None)  # judges results, makes none
        data["workload"] = digest_files(data["workload"])
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

    def _plain_bidding(self) -> Any:
        by_label = {s.label: plain_bidding(s.bidding) for s in self.schedules}
        first, *others = by_label.values()
        return first if all(each == first for each in others) else by_label

    def _chosen_by_kind(self) -> dict[str, Users | Values | Arrivals]:
        return {"users": self.users, "values": self.values, "arrivals": self.arrivals}


def load_scenario(
    path: str | Path,
    backend_types: Mapping[str, type[Any]],
    overrides: Sequence[str] = (),
    backend: str | None = None,
    seed: int | None = None,
    trials: int | None = None,
) -> Scenario:
    """Read and check a scenario.

    Parameters
    ----------
    path : a YAML or JSON file, or the name of a shipped scenario.
    backend_types : backend name → configuration dataclass.
    overrides : ``"key.key=value"`` with the value in YAML; applied in order, after `backend`.
    backend : replaces the whole backend block by this backend with its defaults.
    seed, trials : replace the file's.

    Raises
    ------
    ScenarioError
        Whatever is wrong, with file and line, key, what was found, what was expected, and a suggestion.
    """
    source = open_scenario(path, backend)
    for each in overrides:
        override(source, each)
    for key, value in (("seed", seed), ("trials", trials)):
        if value is not None:
            source.put((key,), value, f"--{key}")
    return scenario_of(source, backend_types)


def open_scenario(path: str | Path, backend: str | None = None) -> Source:
    """A scenario's document, with nothing but its YAML checked; parameters as of `load_scenario`."""
    source = read_yaml(_locate(path))
    if backend is not None:
        source.put(("backend",), {"use": backend}, f"--backend {backend}")
    return source


def scenario_of(source: Source, backend_types: Mapping[str, type[Any]]) -> Scenario:
    """The scenario that a document describes; makes its paths absolute in place. Errors as of `load_scenario`."""
    for key in source.data:
        if key not in KEYS:
            found = f'the unknown key "{key}"'
            raise ScenarioError(source.where((key,)), found, "a known key", did_you_mean(key, KEYS))
    resolve_paths(source)
    return _assemble(source, backend_types)


def _assemble(source: Source, backend_types: Mapping[str, type[Any]]) -> Scenario:
    data = source.data
    mine = {f.name: data[f.name] for f in fields(Header) if f.name in data}
    header = build(Header, {"name": Path(source.file).stem, **mine}, source, ())
    kind, workload = choose(source, ("workload",), data.get("workload"), "kind", find_in(KIND_FOLDERS["workload"]))
    recorded = workload.recorded()
    people = {key: _from_kinds(source, key, recorded) for key in ("users", "values", "arrivals")}
    if isinstance(people["arrivals"], Saturated) and header.warmup_s + header.cooldown_s > 0:
        key = "warmup_s" if header.warmup_s > 0 else "cooldown_s"
        raise ScenarioError(source.where((key,)), f"{data[key]}", "0: saturated arrivals have no clock to cut by")
    schedules = read_schedules(source)
    if "bids" not in recorded and any(each.use == "from-trace" for s in schedules for each in s.bidding):
        hint = "They are recorded by kind: jsonl, and by kind: table with columns.bid."
        expected = "another agent: the workload records no bids"
        raise ScenarioError(source.where(("bidding",)), "from-trace", expected, hint)
    use, config = choose(source, ("backend",), data.get("backend"), "use", find_in(backend_types))
    check_priorities(source, schedules, use, config, backend_types)
    blocks = {key: build(cls, _mapping(source, key), source, (key,)) for key, cls in BLOCKS.items()}
    return Scenario(
        **plain(header),
        workload_kind=kind,
        workload=workload,
        **people,
        batching=blocks["batching"],
        schedules=schedules,
        dispatch=blocks["dispatch"],
        slo=blocks["slo"].targets,
        backend=BackendEntry(use=use, config=config),
        path=Path(source.file),
        validation=blocks["validation"],
        sweep=blocks["sweep"],
    )


def _from_kinds(source: Source, key: str, recorded: frozenset[str]) -> Any:
    """The users, values or arrivals block; a workload that records them is the default."""
    recording = "trace" if key == "arrivals" else "from-trace"
    invented = {"users": "per-request", "values": "pareto", "arrivals": "saturated"}[key]
    default = recording if key in recorded else invented
    if key == "arrivals" and "sessions" in recorded and key not in recorded:
        default = "sessions"  # a trace that records pauses between turns, not when they came
    raw = source.data.get(key, default)
    if isinstance(raw, dict) and "kind" not in raw and source.laid_over((key,)):
        raw = {"kind": default, **raw}  # a key set in a block that the file leaves to the default
    try:
        name, block = choose(source, (key,), raw, "kind", find_in(KIND_FOLDERS[key]))
    except ScenarioError as error:
        raise _with_kinds_that_take_it(error, key) from error
    if name == recording and key not in recorded:
        raise ScenarioError(source.where((key,)), name, f"another kind: the workload records no {key}")
    return block


def _with_kinds_that_take_it(error: ScenarioError, block: str) -> ScenarioError:
    """The same error about an unknown key, with the kinds of the block that know it."""
    unknown, choices = error.where.rpartition(".")[2], KIND_FOLDERS[block]
    if isinstance(choices, str) or not error.found.startswith("the unknown key"):
        return error
    takers = [kind for kind, cls in choices.items() if unknown in {each.name for each in fields(cls)}]
    if not takers:
        return error
    hint = f"{block}.kind: {' and '.join(takers)} take{'s' if len(takers) == 1 else ''} it."
    return ScenarioError(error.where, error.found, error.expected, hint)


def _mapping(source: Source, key: str) -> dict[str, Any]:
    block = source.data.get(key, {})
    if block is None and key == "slo":
        return {}
    if not isinstance(block, dict):
        raise ScenarioError(source.where((key,)), json.dumps(block), "a block of keys")
    return block


def override(source: Source, setting: str) -> None:
    """Set one key of a document: `setting` is ``"key.key=value"``, the value in YAML."""
    key, equals, text = setting.partition("=")
    origin, steps = f"--set {key}", tuple(key.split("."))
    if not equals or not all(steps):
        raise ScenarioError(f"--set {setting}", f'"{setting}"', "key=value, with dots between nested keys")
    source.put(steps, parse_value(text, origin), origin)


def _locate(path: str | Path) -> Path:
    """The file itself, else a shipped scenario of that name."""
    name = str(path)
    if Path(path).exists():
        return Path(path)
    shipped = shipped_scenario(name)
    if shipped is not None or "/" in name:
        return shipped or Path(path)
    expected = "a scenario file or the name of a shipped one"
    raise ScenarioError(name, "no such file", expected, did_you_mean(name, shipped_names()))

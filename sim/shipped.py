"""The scenarios that come with the program: found by name, and by the workload they show."""

from __future__ import annotations

from pathlib import Path

from sim.yaml_source import read_yaml

__all__ = ["shipped_names", "shipped_of_kind", "shipped_scenario"]

_FOLDER = Path(__file__).resolve().parent.parent / "scenarios"


def shipped_scenario(name: str) -> Path | None:
    """The shipped scenario called `name`, with or without its ending, such as "chains" or "traces/azure"."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    candidates = (_FOLDER / name, _FOLDER / f"{name}.yaml")
    return next((file for file in candidates if file.is_file()), None)


def shipped_names() -> list[str]:
    """What `shipped_scenario` knows, in the order of the alphabet; those of traces last."""
    names = [file.relative_to(_FOLDER).with_suffix("").as_posix() for file in _FOLDER.rglob("*.yaml")]
    return sorted(names, key=lambda name: ("/" in name, name))


def shipped_of_kind(kind: str) -> list[str]:
    """Names of the shipped scenarios whose workload is of this kind; reads them all."""
    workloads = {name: read_yaml(_FOLDER / f"{name}.yaml").data.get("workload") for name in shipped_names()}
    return [name for name, workload in workloads.items() if isinstance(workload, dict) and workload["kind"] == kind]

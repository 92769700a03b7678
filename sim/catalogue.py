"""Everything a scenario can name, by the block that names it, and the keys of what is named."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sim import plugins
from sim.errors import ScenarioError, did_you_mean
from sim.parameters import model_of, plain
from sim.scenario_blocks import KIND_FOLDERS, USE_FOLDERS

__all__ = ["catalogue", "parameters", "parameters_text"]


def catalogue(backend_types: Mapping[str, type[Any]], profiles: Sequence[str]) -> dict[str, list[str]]:
    """Block → names it takes.

    Parameters
    ----------
    backend_types, profiles : what lives above this room: backend name → its class, and the names of profiles.

    >>> catalogue({}, ())["bidding"][0]
    'from-trace'
    """
    names = {block: list(plugins.available(at) if isinstance(at, str) else at) for block, at in _FOLDERS.items()}
    return {**names, "backend": sorted(backend_types), "profile": list(profiles)}


def parameters(block: str, backend_types: Mapping[str, type[Any]]) -> dict[str, dict[str, Any]]:
    """Name → what it is, and its keys with their defaults, of one block.

    Returns ``{name: {"about", "parameters": {key: {"about", "required"} or {"about", "default"}}}}``.

    Raises
    ------
    ScenarioError
        No such block.

    >>> parameters("arrivals", {})["poisson"]["parameters"]["request_rate"]["required"]
    True
    >>> parameters("schedule", {})["k-lpm"]["parameters"]["k"]["default"]
    2
    """
    known = [*_FOLDERS, "backend"]
    if block not in known:
        raise ScenarioError(
            "list KIND", f'"{block}"', "a block of a scenario", did_you_mean(block, [*known, "profile"])
        )
    if block == "backend":
        classes = backend_types
    else:
        at = _FOLDERS[block]
        classes = {name: plugins.load(at, name) for name in plugins.available(at)} if isinstance(at, str) else at
    return {name: {"about": _about(cls), "parameters": _keys(cls)} for name, cls in classes.items()}


def parameters_text(found: Mapping[str, Mapping[str, Any]]) -> str:
    """`parameters` for a terminal: a name and what it is, and below it a line for each key."""
    lines = []
    for name, entry in found.items():
        lines.append(f"{name}: {entry['about']}")
        for key, about in entry["parameters"].items():
            default = "required" if about.get("required") else f"default {json.dumps(about['default'])}"
            lines.append(f"    {key} ({default}): {about['about']}")
    return "\n".join(lines)


_FOLDERS: dict[str, str | Mapping[str, type[Any]]] = {**KIND_FOLDERS, **USE_FOLDERS}


def _about(cls: type[Any]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _keys(cls: type[Any]) -> dict[str, dict[str, Any]]:
    keys: dict[str, dict[str, Any]] = {}
    for key, field in model_of(cls).model_fields.items():  # type: ignore[arg-type]  # a class is hashable
        about = {"about": (field.description or "").strip()}
        required = {"required": True} if field.is_required() else {"default": plain(field.get_default())}
        keys[key] = {**about, **required}
    return keys

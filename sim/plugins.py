"""The folder is the registry: a plugin is one file, its name in YAML the file name with `_` → `-`.

A plugin module exports exactly one name in `__all__`; files that begin with `_` are helpers. Outside the
repository, `my_lab.rules:Aging` names a class directly.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError, did_you_mean

__all__ = ["available", "load"]


@functools.cache
def available(folder: str) -> tuple[str, ...]:
    """Names of the plugins in a package such as ``"mechanism.scheduling"``, sorted.

    >>> "stars" in available("sim.workloads")
    True
    """
    package = importlib.import_module(folder)
    files = (path for root in package.__path__ for path in Path(root).glob("*.py"))
    return tuple(sorted(path.stem.replace("_", "-") for path in files if not path.stem.startswith("_")))


def load(folder: str, name: str, where: str = "") -> type[Any]:
    """The class a plugin name stands for.

    Raises
    ------
    ScenarioError
        No such plugin (with a suggestion), or the module does not export exactly one name.
    """
    where = where or folder
    if ":" in name:
        module_name, _, attribute = name.partition(":")
    elif name in available(folder):
        module_name, attribute = f"{folder}.{name.replace('-', '_')}", ""
    else:
        raise ScenarioError(where, f'"{name}"', f"a name in {folder}", did_you_mean(name, available(folder)))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise ScenarioError(where, f'"{name}"', "module:Class that can be imported", str(error)) from error
    if not attribute:
        exported = list(getattr(module, "__all__", ()))
        if len(exported) != 1:
            raise ScenarioError(module_name, f"__all__ = {exported}", "exactly one exported name")
        attribute = exported[0]
    found = getattr(module, attribute, None)
    if not isinstance(found, type):
        raise ScenarioError(where, f'"{name}"', f"a class named {attribute} in {module_name}")
    return found

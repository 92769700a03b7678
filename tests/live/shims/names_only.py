"""Stand-ins for packages that SGLang imports and, on a CPU, never uses.

Every submodule and every name of such a package exists; calling one is an error that names it, so nothing can be
computed differently without being noticed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["attributes_of"]


class _Name(type):
    """The type of a name without a meaning: it has further names, can be a base class, holds nothing, is not called."""

    def __getattr__(cls, name: str) -> Any:
        return _attribute(cls.__qualname__, name)

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise RuntimeError(f"{cls.__qualname__} was called, and only its name exists here (tests/live/shims)")


def _attribute(owner: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Name(name, (), {"__qualname__": f"{owner}.{name}"})


class _Module(ModuleType):
    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        return _attribute(self.__name__, name)


class _Submodules(MetaPathFinder, Loader):
    """Finds every submodule of `package` that is on no disk and not declared absent."""

    def __init__(self, package: str, absent: frozenset[str]) -> None:
        self._prefix, self._absent = f"{package}.", absent

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if not fullname.startswith(self._prefix) or fullname.removeprefix(self._prefix) in self._absent:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Its names come into being when they are asked for."""


def attributes_of(package: str, absent: Sequence[str] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names need no meaning; `absent` submodules do not exist."""
    sys.meta_path.append(_Submodules(package, frozenset(absent)))

    def attribute(name: str) -> Any:
        if name in absent:
            raise AttributeError(name)
        return _attribute(package, name)

    return attribute

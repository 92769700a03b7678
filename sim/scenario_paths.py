"""Paths in a scenario: which keys hold one, from where they count, and what the files behind them say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError
from sim.reading import content_digest
from sim.yaml_source import KeyPath, Source

__all__ = ["digest_files", "resolve_paths"]

#: Keys that hold a path only when it looks like a JSON file; else they hold a name.
_NAMES_OR_FILES = (("workload", "tokenizer"), ("backend", "profile"))


def resolve_paths(source: Source) -> None:
    """Make every path absolute: from the file's folder, or from the current directory if it comes from an option.

    Raises
    ------
    ScenarioError
        There is no such file, with the line and key of the path.
    """
    for holder, key, address in _places(source.data):
        text = holder[key]
        base = Path.cwd() if source.typed(address) else Path(source.file).resolve().parent
        path = (base / Path(text).expanduser()).resolve()
        if not (path.is_file() or (address[0] == "workload" and path.is_dir())):
            raise ScenarioError(source.where(address), f'"{text}"', f"a file; there is none at {path}")
        holder[key] = str(path)


def digest_files(workload: dict[str, Any]) -> dict[str, Any]:
    """The resolved workload with the content of its files in place of where they lie."""

    def digest(value: Any) -> Any:
        if isinstance(value, list):
            return [digest(item) for item in value]
        return None if value is None else content_digest(Path(value))

    return {key: digest(value) if _is_file(key, value) else value for key, value in workload.items()}


def _is_file(key: str, value: Any) -> bool:
    return _holds_paths(key) or (key == "tokenizer" and isinstance(value, str) and value.endswith(".json"))


def _holds_paths(key: str) -> bool:
    return key in {"path", "paths"} or key.endswith(("_path", "_paths"))


def _places(data: dict[str, Any]) -> Iterator[tuple[Any, str | int, KeyPath]]:
    """Every path of a document: what holds it, under which key, and its address; a wrong type is left for later."""
    workload = data.get("workload")
    if isinstance(workload, dict):
        for key, value in workload.items():
            if _holds_paths(key) and isinstance(value, str):
                yield workload, key, ("workload", key)
            elif _holds_paths(key) and isinstance(value, list):
                yield from ((value, i, ("workload", key, i)) for i, item in enumerate(value) if isinstance(item, str))
    for block, key in _NAMES_OR_FILES:
        inner = data.get(block)
        if isinstance(inner, dict) and isinstance(inner.get(key), str) and inner[key].endswith(".json"):
            yield inner, key, (block, key)

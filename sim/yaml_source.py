"""YAML 1.2 (JSON is YAML) as plain data that remembers where every key came from.

`Source.where` turns a key into `file:line: key`, or `--set key` for an override, so that every error of a scenario
points at what the person at the keyboard typed. `1e-3` is a number, `no` a word, and a key given twice an error.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sim.errors import ScenarioError, did_you_mean

__all__ = ["KeyPath", "Source", "parse_value", "read_yaml"]

KeyPath = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
#: Of an integer; how large it may be is for its field to say.
_DIGITS = 60


@dataclass(frozen=True)
class Source:
    """A document as dicts, lists and scalars.

    Attributes
    ----------
    file : the path as typed.
    data : the document's top-level mapping.
    origins : key path → ``"file:line"``, or the option that set it, e.g. ``"--set backend.kv_tokens"``.
    added : what `put` set, and the blocks that it made on the way.
    """

    file: str
    data: dict[str, Any]
    origins: dict[KeyPath, str]
    added: set[KeyPath] = field(default_factory=set)

    def where(self, path: KeyPath) -> str:
        """`path` as an error's address: ``"file:line: a.b"``, ``"--set a.b"`` or ``"--set a: a.b"``.

        A key that is not there has the line of the block around it.
        """
        known = next((path[:n] for n in range(len(path), -1, -1) if path[:n] in self.origins), None)
        origin = self.file if known is None else self.origins[known]
        if not path or (known == path and origin.startswith("--")):
            return origin
        return f"{origin}: {'.'.join(map(str, path))}"

    def typed(self, path: KeyPath) -> bool:
        """Whether the value at `path` came from an option, not from the file."""
        return any(self.origins.get(path[:n], "").startswith("--") for n in range(1, len(path) + 1))

    def laid_over(self, path: KeyPath) -> bool:
        """Whether the value at `path` lies over what the file says: by an option, or by a sweep's block."""
        return self.typed(path) or any(path[:n] in self.added for n in range(1, len(path) + 1))

    def put(self, path: KeyPath, value: Any, origin: str) -> None:
        """Set the value at `path`, making the blocks on the way; a bare name on the way becomes a block.

        An entry of a list is meant by its number, its label or its name. Another `kind` inside a block starts afresh:
        what the file says beside the old one falls away.
        """
        here: Any = self.data
        exact: KeyPath = ()
        for key in path[:-1]:
            exact = (*exact, self._index(here, key, origin))
            if isinstance(here, dict) and exact[-1] not in here:
                self.origins[exact] = origin
                self.added.add(exact)
            here = self._enter(here, exact, origin)
        exact = (*exact, self._index(here, path[-1], origin))
        if exact[-1] == "kind" and len(exact) > 2 and here.get("kind") not in (None, value):
            for key in [key for key in here if not self.laid_over((*exact[:-1], key))]:
                del here[key]  # they were the old kind's
        here[exact[-1]] = value
        for known in [known for known in self.origins if known[: len(exact)] == exact]:
            del self.origins[known]
        self.origins[exact] = origin
        self.added.add(exact)

    @staticmethod
    def _enter(here: Any, path: KeyPath, origin: str) -> Any:
        """The container at `path`, whose last key is in `here`; created, or widened from a bare name."""
        key = path[-1]
        inner = here.get(key) if isinstance(here, dict) else here[key]
        if isinstance(inner, dict | list):
            return inner
        if inner is not None and not isinstance(inner, str):
            raise ScenarioError(origin, f"{inner!r} at {'.'.join(map(str, path))}", "a block to set a key in")
        tag = "kind" if path[0] in {"workload", "users", "values", "arrivals"} else "use"
        here[key] = {} if inner is None else {tag: inner}
        return here[key]

    @staticmethod
    def _index(here: Any, key: str | int, origin: str) -> str | int:
        """`key`, or inside a list the index it means: a number, or an entry's label or name."""
        if isinstance(here, dict):
            return key
        names = [item.get("label", item.get("use")) if isinstance(item, dict) else item for item in here]
        if key in names:
            return names.index(key)
        if str(key).isdecimal() and int(key) < len(here):
            return int(key)
        known = [str(name) for name in names]
        raise ScenarioError(origin, f'"{key}"', "an entry of the list", did_you_mean(str(key), known))


def read_yaml(path: str | Path) -> Source:
    """Read a file.

    Raises
    ------
    ScenarioError
        Missing file, not UTF-8, broken YAML, a key given twice (both lines are named), or no mapping on top.
    """
    file = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(file, f"byte {error.start} that is not UTF-8", "a UTF-8 file") from error
    except OSError as error:
        raise ScenarioError(file, str(error.strerror), "a scenario file that can be read") from error
    data, origins = _parse(text, file)
    if not isinstance(data, dict):
        raise ScenarioError(f"{file}:1", _describe(data), "a mapping of scenario keys such as `name: my-scenario`")
    return Source(file, data, origins)


def parse_value(text: str, origin: str) -> Any:
    """One value in YAML, as typed after ``--set key=``."""
    return _parse(text, origin)[0]


def _parse(text: str, file: str) -> tuple[Any, dict[KeyPath, str]]:
    origins: dict[KeyPath, str] = {}
    try:
        root = YAML(typ="safe", pure=True).compose(io.StringIO(text))
    except MarkedYAMLError as error:
        where = file if error.problem_mark is None else _at(file, error.problem_mark)
        raise ScenarioError(where, f"broken YAML ({error.problem})", "a YAML document") from error
    except YAMLError as error:
        raise ScenarioError(file, f"broken YAML ({str(error).splitlines()[0]})", "a YAML document") from error
    return (None if root is None else _plain(root, (), file, origins, ())), origins


def _plain(node: Node, path: KeyPath, file: str, origins: dict[KeyPath, str], parents: tuple[Node, ...]) -> Any:
    """A node's value; every key's line is noted in `origins`. Mapping keys are their text."""
    where = _at(file, node.start_mark)
    origins.setdefault(path, where)
    if any(node is parent for parent in parents):
        raise ScenarioError(where, "an alias to a block around it", "a finite document")
    inside = (*parents, node)
    if isinstance(node, SequenceNode):
        return [_plain(item, (*path, i), file, origins, inside) for i, item in enumerate(node.value)]
    if isinstance(node, MappingNode):
        return _mapping(node, path, file, origins, inside)
    assert isinstance(node, ScalarNode)
    return _scalar(node, where)


def _mapping(
    node: MappingNode, path: KeyPath, file: str, origins: dict[KeyPath, str], inside: tuple[Node, ...]
) -> dict[str, Any]:
    seen: dict[str, int] = {}
    out: dict[str, Any] = {}
    for key_node, value_node in node.value:
        where, line = _at(file, key_node.start_mark), key_node.start_mark.line + 1
        if not isinstance(key_node, ScalarNode):
            raise ScenarioError(where, "a list or a block as a key", "a word")
        key = str(key_node.value)
        if key in seen:
            where = f"{where}: {'.'.join(map(str, (*path, key)))}"
            raise ScenarioError(where, f"the key on lines {seen[key]} and {line}", "each key once")
        seen[key] = line
        origins[(*path, key)] = where
        out[key] = _plain(value_node, (*path, key), file, origins, inside)
    return out


def _scalar(node: ScalarNode, where: str) -> Any:
    tag, text = str(node.tag).removeprefix(_TAG), str(node.value)
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() == "true"
    digits = text.replace("_", "").lower()
    if tag == "int":
        if len(digits) > _DIGITS:
            raise ScenarioError(where, f"an integer of {len(digits):,} digits", f"at most {_DIGITS} digits")
        return int(digits, 0) if digits.lstrip("+-")[:2] in {"0x", "0o", "0b"} else int(digits)
    if tag == "float":
        return float(digits.replace(".inf", "inf").replace(".nan", "nan"))
    if tag in {"str", "timestamp", "value", "merge"}:
        return text
    raise ScenarioError(where, f"the tag {node.tag}", "plain YAML: words, numbers, lists and blocks")


def _at(file: str, mark: StringMark) -> str:
    """The line of a mark in a file; an option has no lines worth naming."""
    return file if file.startswith("--") else f"{file}:{mark.line + 1}"


def _describe(data: Any) -> str:
    return "nothing" if data is None else f"{type(data).__name__} {str(data)[:40]!r}"

"""Reading JSON documents, plain or gzipped, with an address for every value: errors say `file: data[3].qas[0]: …`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError
from sim.json_rows import short
from sim.reading import read_lines

__all__ = ["Item", "read_json", "read_json_lines"]


class Item:
    """One value of a document.

    Attributes
    ----------
    value : what JSON says.
    """

    __slots__ = ("_file", "_path", "value")

    def __init__(self, value: Any, file: str, path: str = "") -> None:
        self.value, self._file, self._path = value, file, path

    @property
    def where(self) -> str:
        """The address, e.g. ``"train.json: data[3].title"``."""
        return f"{self._file}: {self._path}" if self._path else self._file

    def problem(self, expected: str, suggestion: str = "") -> ScenarioError:
        """The error to raise about this value."""
        return ScenarioError(self.where, short(self.value), expected, suggestion)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def __getitem__(self, key: str) -> Item:
        """The value under `key` of an object that must have it."""
        if not isinstance(self.value, dict):
            raise self.problem(f'an object with the key "{key}"')
        inner = Item(self.value.get(key), self._file, f"{self._path}.{key}".lstrip("."))
        if key not in self.value:
            raise ScenarioError(inner.where, "nothing", f'the key "{key}"')
        return inner

    def __iter__(self) -> Iterator[Item]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.problem("a list")
        return (Item(entry, self._file, f"{self._path}[{k}]") for k, entry in enumerate(self.value))

    def text(self) -> str:
        """A string that UTF-8 can spell."""
        if not isinstance(self.value, str):
            raise self.problem("a text")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise ScenarioError(self.where, "half a surrogate pair", "text that UTF-8 can spell") from None
        return self.value


def read_json(path: Path) -> Item:
    """The document in a file; `.gz` is unpacked.

    Raises
    ------
    ScenarioError
        No such file, a broken archive, bytes that are not UTF-8, or text that is not JSON (with its line).
    """
    text = "".join(read_lines(path))
    try:
        return Item(json.loads(text), str(path))
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}:{error.lineno}", f"{error.msg} at column {error.colno}", "JSON") from None
    except RecursionError:
        raise ScenarioError(str(path), "lists within lists without end", "JSON") from None
    except ValueError:  # what is left: Python reads no integer of over 4,300 digits
        raise ScenarioError(str(path), "an integer of thousands of digits", "numbers that fit 64 bits") from None


def read_json_lines(path: Path) -> Iterator[Item]:
    """One document a line; `.gz` is unpacked, blank lines are skipped but counted.

    Raises
    ------
    ScenarioError
        As for `read_json`.
    """
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            try:
                yield Item(json.loads(line), f"{path}:{number}")
            except json.JSONDecodeError as error:
                found = f"{error.msg} at column {error.colno}"
                raise ScenarioError(f"{path}:{number}", found, "one JSON document a line") from None
            except RecursionError:
                raise ScenarioError(f"{path}:{number}", "lists within lists without end", "JSON") from None
            except ValueError:  # as above
                found = "an integer of thousands of digits"
                raise ScenarioError(f"{path}:{number}", found, "numbers that fit 64 bits") from None

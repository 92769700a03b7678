"""Reading `.jsonl` files row by row, and checking one field of a row: every complaint names file, line and key.

Byte order marks, CRLF, blank lines and a missing final newline are fine. NaN, infinity, a key given twice, and
anything but one object a line are not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError, did_you_mean
from sim.reading import read_lines

__all__ = ["Row", "read_rows"]


class Row:
    """One object of a file, with checked access to its fields."""

    __slots__ = ("data", "file", "line")

    def __init__(self, data: dict[str, Any], file: str, line: int) -> None:
        self.data, self.file, self.line = data, file, line

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def problem(self, key: str, found: str, expected: str, suggestion: str = "") -> ScenarioError:
        """The error to raise about `key` of this row."""
        return ScenarioError(f"{self.file}:{self.line}: {key}", found, expected, suggestion)

    def check_keys(self, known: frozenset[str]) -> None:
        """Refuse keys that are not known."""
        unknown = self.data.keys() - known
        if unknown:
            key = min(unknown)
            raise self.problem(key, f'the unknown key "{key}"', "a known key", did_you_mean(key, known))

    def get(self, key: str) -> Any:
        """The value under `key`, which must be there."""
        if key not in self.data:
            raise self.problem(key, "nothing", f'the key "{key}"')
        return self.data[key]

    def number(self, key: str) -> float:
        """A finite number ≥ 0."""
        value = self.get(key)
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise self.problem(key, short(value), "a finite number, 0 or more")
        try:
            return float(value) + 0.0  # −0 becomes 0
        except OverflowError:
            raise self.problem(key, short(value), "a number that fits a double") from None

    def integer(self, key: str, least: int = 0) -> int:
        """An integer ≥ `least` that fits 64 bits."""
        value = self.get(key)
        if type(value) is not int or not least <= value < 2**63:
            raise self.problem(key, short(value), f"an integer, {least} or more")
        return value

    def integers(self, key: str) -> list[int]:
        """A list of integers."""
        values = self.get(key)
        if type(values) is not list or not set(map(type, values)) <= {int}:
            raise self.problem(key, short(values), "a list of integers")
        return values

    def word(self, key: str) -> str:
        """A string that UTF-8 can spell; an integer is taken as its digits."""
        value = self.get(key)
        if type(value) not in (str, int):
            raise self.problem(key, short(value), "a string")
        word = str(value)
        try:
            word.encode()
        except UnicodeEncodeError:
            raise self.problem(key, "half a surrogate pair", "text that UTF-8 can spell") from None
        return word


def read_rows(path: str | Path) -> Iterator[Row]:
    """The objects of a file (plain or gzip), one a line; blank lines are skipped but counted.

    Raises
    ------
    ScenarioError
        What `read_lines` raises, or a line that is not one JSON object.
    """
    file = str(path)
    decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode
    for number, line in enumerate(read_lines(path), 1):
        text = line.strip()
        if text:
            yield Row(_parse(decode, text, f"{file}:{number}"), file, number)


def short(value: Any) -> str:
    """`value` as JSON, cut where it gets long."""
    text = json.dumps(value[:20] if isinstance(value, list | str) else value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


class _BadObjectError(ValueError):
    """An object that JSON's grammar allows and we do not."""


def _parse(decode: Any, text: str, where: str) -> dict[str, Any]:
    try:
        data = decode(text)
    except json.JSONDecodeError as error:
        raise ScenarioError(where, f"{error.msg} at column {error.colno}", "one JSON object a line") from None
    except (_BadObjectError, RecursionError) as error:
        raise ScenarioError(where, str(error), "finite numbers, and each key once") from None
    except ValueError:  # what is left: Python reads no integer of over 4,300 digits
        raise ScenarioError(where, "an integer of thousands of digits", "numbers that fit 64 bits") from None
    if not isinstance(data, dict):
        raise ScenarioError(where, short(data), "one JSON object a line")
    return data


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _BadObjectError(f'the key "{twice}" twice')
    return data


def _constant(text: str) -> float:
    raise _BadObjectError(text)

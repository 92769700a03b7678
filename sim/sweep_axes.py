"""The axes of a sweep: keys with the values they take, as typed on the command line or written in a `sweep:` block."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sim.errors import ScenarioError
from sim.sweep_block import Range
from sim.yaml_source import parse_value

__all__ = ["Axis", "Typed", "plain_number", "range_of", "read_typed", "refuse_shared_labels", "split_values", "zipped"]

_CLOSING = {"[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Typed:
    """One ``--set``, ``--zip`` or axis of a block: a key, its values, and where it stands, for messages."""

    key: str
    values: tuple[Any, ...]
    origin: str

    def __post_init__(self) -> None:
        if not all(self.key.split(".")) or self.key.split(".")[0] == "sweep":
            raise ScenarioError(self.origin, f'the axis "{self.key}"', "a key of the scenario, such as batching.size")


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys that step together: `rows` holds their values, step by step. A fixed axis has one step and is no setting."""

    kind: Literal["fixed", "grid", "zip", "random"]
    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    origins: tuple[str, ...]

    @staticmethod
    def of(typed: Typed, kind: Literal["fixed", "grid"] = "grid") -> Axis:
        """An axis of one key; ScenarioError for a value that is there twice."""
        _refuse_twins([(value,) for value in typed.values], typed.origin)
        return Axis(kind, (typed.key,), tuple((value,) for value in typed.values), (typed.origin,))


def zipped(columns: Sequence[Typed]) -> Axis:
    """The axis of keys that step together; ScenarioError when their lists differ in length or a step is there twice."""
    first = columns[0]
    for other in columns[1:]:
        if len(other.values) != len(first.values):
            expected = f"{len(first.values)}, as many as {first.key} has"
            raise ScenarioError(other.origin, f"{len(other.values)} values of {other.key}", expected)
    rows = tuple(zip(*(column.values for column in columns), strict=True))
    _refuse_twins(rows, first.origin)
    return Axis("zip", tuple(column.key for column in columns), rows, tuple(column.origin for column in columns))


def read_typed(text: str, option: str) -> Typed:
    """`key=a,b,c`, each value in YAML.

    Raises
    ------
    ScenarioError
        No key, no value between two commas, or broken YAML.
    """
    key, equals, values = text.partition("=")
    if not equals or not all(key.split(".")):
        raise ScenarioError(f"{option} {text}", f'"{text}"', "key=value,value,… with dots between nested keys")
    origin, pieces = f"{option} {key}", split_values(values)
    if len(pieces) > 1 and not all(piece.strip() for piece in pieces):
        raise ScenarioError(origin, f'no value between two commas of "{values}"', "a value", "Nothing is spelled null.")
    return Typed(key, tuple(parse_value(piece, origin) for piece in pieces), origin)


def split_values(text: str) -> list[str]:
    """The text between commas that no bracket, brace or quote protects.

    >>> split_values("a,[b, c],{use: tiers, label: 'x,y'}")
    ['a', '[b, c]', "{use: tiers, label: 'x,y'}"]
    """
    pieces, quote = [""], ""
    closing: list[str] = []
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (closing or not pieces[-1].strip()):
            quote = letter
        elif letter in _CLOSING:
            closing.append(_CLOSING[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            pieces.append("")
            continue
        pieces[-1] += letter
    return pieces


def range_of(typed: Typed) -> Range:
    """The range of `key=low,high[,log][,integer]`."""
    ends, words = typed.values[:2], typed.values[2:]
    numbers = len(ends) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    if not numbers or not set(words) <= {"log", "integer"} or len(set(words)) != len(words):
        found = ",".join(map(str, typed.values))
        raise ScenarioError(typed.origin, f'"{found}"', "low,high and perhaps log and integer, such as 32,1024,log")
    scale: Literal["linear", "log"] = "log" if "log" in words else "linear"
    try:
        return Range(low=float(ends[0]), high=float(ends[1]), scale=scale, integer="integer" in words)
    except ValueError as error:
        raise ScenarioError(typed.origin, f"{ends[0]},{ends[1]}", str(error)) from error


def plain_number(value: Any) -> Any:
    """The value with 1.0 as 1, through blocks and lists: what makes two values the same."""
    if isinstance(value, Mapping):
        return {key: plain_number(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_number(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def refuse_shared_labels(axes: Sequence[Axis]) -> None:
    """ScenarioError where an axis gives one label to schedules that differ: no table could tell them apart."""
    for axis in axes:
        if "schedule" not in axis.keys:
            continue
        column = axis.keys.index("schedule")
        seen: dict[str, str] = {}
        for label, spelled in (pair for row in axis.rows for pair in _labelled(row[column])):
            if seen.setdefault(label, spelled) != spelled:
                hint = f"Give one of them a label: {{use: {label}, label: …}}."
                raise ScenarioError(axis.origins[column], f'"{label}" twice', "labels that differ", hint)


def _labelled(schedule: Any) -> Iterator[tuple[str, str]]:
    """(label, what it stands for) of the schedules of one value; what is none is refused with its point."""
    for entry in schedule if isinstance(schedule, list) else [schedule]:
        block = entry if isinstance(entry, dict) else {"use": entry}
        label = block.get("label", block.get("use"))
        if isinstance(label, str):
            parameters = {key: value for key, value in block.items() if key != "label"}
            yield label, json.dumps(plain_number(parameters), sort_keys=True)


def _refuse_twins(rows: Sequence[tuple[Any, ...]], origin: str) -> None:
    seen: set[str] = set()
    for row in rows:
        spelled = json.dumps(plain_number(row), sort_keys=True)
        if spelled in seen:
            shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in row)
            raise ScenarioError(origin, f"{shown} twice", "each value once")
        seen.add(spelled)

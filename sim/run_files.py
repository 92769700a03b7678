"""Reading the files of a run or sweep folder: what is wrong with one is said with its name and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from sim.errors import ScenarioError
from sim.json_rows import short
from sim.run_shapes import SHAPES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_shape", "no_number", "read_object", "read_table", "run_file"]

_ANEW = "Simulate anew, or give another run folder."


def run_file(folder: Path, name: str) -> Path:
    """The path of a file that must be there.

    Raises
    ------
    ScenarioError
        No such folder, no such file in it, or something else of that name.
    """
    path = folder / name
    if path.is_file():
        return path
    found = f"no {name}" if folder.is_dir() else "no such folder"
    hint = "Give a folder that `simulate` wrote, such as runs/…"
    if path.is_dir():
        found, hint = f"a folder called {name}", _ANEW
    raise ScenarioError(str(folder), found, "a run folder", hint)


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """A JSON file of a run folder, held to its shape in `sim.run_shapes`.

    Raises
    ------
    ScenarioError
        It is missing, is no JSON object, or lacks what such a file holds.
    """
    path = run_file(folder, name)
    try:
        loaded = json.loads(path.read_bytes(), parse_int=_integer, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}:{error.lineno}", error.msg, "JSON", _ANEW) from error
    except (ValueError, RecursionError) as error:  # bytes that are no text, integers of thousands of digits, NaN
        raise ScenarioError(str(path), str(error), "JSON", _ANEW) from error
    except OSError as error:
        raise ScenarioError(str(path), str(error.strerror), "a file that can be read") from error
    if not isinstance(loaded, dict):
        raise ScenarioError(str(path), short(loaded), "a JSON object", _ANEW)
    check_shape(path, loaded, name)
    return loaded


def read_table(folder: Path, name: str, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The named columns of a Parquet file of a run folder, in their types.

    Raises
    ------
    ScenarioError
        It is missing, broken or cut short, or lacks a column or its type.
    """
    import polars as pl

    path = run_file(folder, name)
    try:
        schema = pl.read_parquet_schema(path)
        if missing := [column for column in columns if column not in schema]:
            raise ScenarioError(str(path), f"no column {', '.join(missing)}", "the columns of DESIGN.md", _ANEW)
        return pl.read_parquet(path, columns=list(columns)).cast(pl.Schema(columns))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        found = (str(error).splitlines() or [type(error).__name__])[0]
        raise ScenarioError(str(path), f"a broken table ({found})", "a whole Parquet file", _ANEW) from error


def _integer(digits: str) -> int:
    number = int(digits)
    if abs(number) >= 2**63:
        raise ValueError("an integer that does not fit 64 bits")
    return number


def no_number(word: str) -> float:
    """For `json.loads(…, parse_constant=)`: NaN and infinity are no JSON. Raises ValueError."""
    raise ValueError(f"{word}, which JSON does not know")


def check_shape(path: Path, data: dict[str, Any], name: str) -> None:
    """Hold what was read from `path` to the shape of that name.

    Raises
    ------
    ScenarioError
        It lacks what such a file holds.
    """
    try:
        SHAPES[name].model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        absent = first["type"] == "missing"
        found = "nothing" if absent else _short(first["input"])
        expected = "a value" if absent else first["msg"].removeprefix("Input should be ")
        raise ScenarioError(f"{path}: {where}", found, expected, _ANEW) from None


def _short(value: Any) -> str:
    """A JSON value in a few words."""
    return f"a block of {len(value)} keys" if isinstance(value, dict) else short(value)

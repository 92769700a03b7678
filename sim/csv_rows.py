"""Reading CSV files row by row: the same checked rows as those of `.jsonl` files, made of texts.

Byte order marks, CRLF, blank lines, quoted fields and a missing final newline are fine. A row with more or fewer fields
than the header is not.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from sim.errors import ScenarioError, did_you_mean
from sim.json_rows import Row, short
from sim.reading import read_lines

__all__ = ["TextRow", "csv_header", "read_csv"]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_INTEGER = re.compile(r"\s*[+-]?\d{1,24}\s*", re.ASCII)


class TextRow(Row):
    """A row whose values are texts: numbers are read from their digits."""

    __slots__ = ()

    def number(self, key: str) -> float:
        """A finite number ≥ 0, from its digits; also where a `.jsonl` file puts them in quotes."""
        value = self.get(key)
        if not isinstance(value, str):
            return Row.number(self, key)
        number = float(value) if _NUMBER.fullmatch(value) else math.nan
        if not 0 <= number < math.inf:
            raise self.problem(key, short(value), "a finite number, 0 or more")
        return number + 0.0  # −0 becomes 0

    def integer(self, key: str, least: int = 0) -> int:
        """An integer ≥ `least` that fits 64 bits, from its digits."""
        value = self.get(key)
        if not isinstance(value, str):
            return Row.integer(self, key, least)
        if not _INTEGER.fullmatch(value) or not least <= int(value) < 2**63:
            raise self.problem(key, short(value), f"an integer, {least} or more")
        return int(value)


def read_csv(path: str | Path, needed: Collection[str]) -> Iterator[TextRow]:
    """The rows of a CSV file (plain or gzip) under its header; columns beyond those `needed` are kept, not checked.

    Raises
    ------
    ScenarioError
        What `read_lines` raises, a needed column that is missing, a header that names one twice, or a row that does
        not fit the header.
    """
    file = str(path)
    reader = csv.reader(read_lines(path), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(file, header, needed)
        width = len(header)
        for fields in reader:
            if len(fields) == width:
                yield TextRow(dict(zip(header, fields, strict=True)), file, reader.line_num)
            elif any(map(str.strip, fields)):
                found = f"{len(fields)} fields"
                raise ScenarioError(f"{file}:{reader.line_num}", found, f"{width}, as in the header")
    except csv.Error as error:
        raise ScenarioError(f"{file}:{reader.line_num}", str(error), "a row of CSV") from error


def csv_header(path: str | Path) -> list[str]:
    """The names of the columns; empty for an empty file. Raises ScenarioError for what is no CSV."""
    try:
        return [name.strip() for name in next(csv.reader(read_lines(path)), [])]
    except csv.Error as error:
        raise ScenarioError(f"{path}:1", str(error), "a header of CSV") from error


def _check_header(file: str, header: list[str], needed: Collection[str]) -> None:
    for name in needed:
        if name not in header:
            found = f"the columns {', '.join(header)}" if header else "an empty file"
            hint = did_you_mean(name, header) if header else ""
            raise ScenarioError(f"{file}:1", found, f'the column "{name}"', hint)
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ScenarioError(f"{file}:1", f'the column "{twice[0]}" twice', "each column once")

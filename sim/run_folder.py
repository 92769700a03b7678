"""The run folder: written under a temporary name, then renamed, so a killed run never looks finished."""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.errors import ScenarioError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "check_folder",
    "check_page",
    "folder_name",
    "parquet",
    "partial_beside",
    "run_folder",
    "safe_name",
    "strict_json",
    "write_bytes",
    "write_text",
]


def folder_name(name: str, started: datetime) -> str:
    """`<UTC yyyymmddTHHMMSSZ>-<name>-<8 hex>`, safe on any file system.

    >>> folder_name("a b/c", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))[:22]
    '20260102T030405Z-a-b-c'
    """
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{safe_name(name)}-{secrets.token_hex(4)}"


def safe_name(name: str) -> str:
    """A name that any file system takes.

    >>> safe_name("a b/c")
    'a-b-c'
    """
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)[:80]


@contextlib.contextmanager
def run_folder(parent: Path, name: str) -> Iterator[Path]:
    """A folder to fill; it gets its real name only when the block ends well, and vanishes when it does not.

    Yields the temporary folder; afterwards everything stands under ``parent / name``.
    """
    temporary = parent / f".{name}.partial"
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for path in temporary.iterdir():
            _sync(path)
        temporary.rename(parent / name)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def check_folder(folder: Path, option: str = "--out") -> None:
    """Notice before the work that `folder` cannot be written: it is made, with the folders above it, afterwards.

    Raises
    ------
    ScenarioError
        A file is in the way, or the nearest folder that exists takes no files.
    """
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists() or place.is_symlink())
    if not there.is_dir():
        raise ScenarioError(f"{option} {folder}", f"{there}, which is no folder", "a folder, or a name for one")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        found = f"{there}: {error.strerror}"
        raise ScenarioError(f"{option} {folder}", found, "a folder that can be written", "Choose another.") from error


def check_page(file: Path | None, option: str = "--out") -> None:
    """The same for a file to be written (None = none): its folder is made afterwards, an older file replaced."""
    if file is None:
        return
    if file.is_dir():
        raise ScenarioError(f"{option} {file}", "a folder", "the name of a file to write")
    check_folder(file.absolute().parent, option)


def partial_beside(path: Path) -> Path:
    """A temporary name for what shall become the file `path`.

    Raises
    ------
    ScenarioError
        `path` is a folder, or lies in none.
    """
    if path.is_dir():
        raise ScenarioError(str(path), "a folder", "the name of a file to write")
    if not path.parent.is_dir():
        raise ScenarioError(str(path), f"no folder {path.parent}", "a file in a folder that exists")
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")


def write_text(path: Path, text: str) -> None:
    """Write a whole text file or none; errors as of `partial_beside`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file or none: a temporary name beside it, then a rename; errors as of `partial_beside`."""
    temporary = partial_beside(path)
    try:
        temporary.write_bytes(content)
        _sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def parquet(frame: pl.DataFrame) -> memoryview:
    """A table as a Parquet file. It is made in memory first: polars does not say when a disk is full."""
    packed = io.BytesIO()
    frame.write_parquet(packed, compression="zstd")
    return packed.getbuffer()


def strict_json(data: Any) -> str:
    """JSON without NaN or infinity; a value that has no JSON spelling is an error, not a surprise for a reader."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _sync(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            os.fsync(file.fileno())

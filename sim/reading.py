"""Opening input files: plain or gzip, with word of how far reading has come for whoever watches.

A workload reads its file deep inside `generate`, whose only argument is the random streams; the watcher is therefore
a context variable: set around a command by the command line, nothing elsewhere.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from sim.errors import ScenarioError

__all__ = ["Watcher", "content_digest", "read_lines", "watching"]

#: Called with (file, bytes read, bytes in all) every few thousand lines and at the end.
Watcher = Callable[[str, int, int], None]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_STRIDE = 4096


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` about every file that is read inside the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def read_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 text file with their ends as they are, one at a time; a name in `.gz` is unpacked.

    A byte order mark is dropped.

    Raises
    ------
    ScenarioError
        No such file, a broken archive, or bytes that are not UTF-8.
    """
    file, number = str(path), 0
    try:
        with Path(path).open("rb") as raw:
            unpacked = gzip.GzipFile(fileobj=raw) if file.endswith(".gz") else raw
            with io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="") as lines:
                for line in _watched(lines, raw, file):
                    number += 1
                    yield line
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: after line {number}", "bytes that are not UTF-8", "a UTF-8 file") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ScenarioError(f"{file}: after line {number}", f"a broken archive ({error})", "a gzip file") from error
    except OSError as error:
        raise ScenarioError(file, str(error.strerror), "a file that can be read") from error


def content_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder: of the names and digests of the files in it."""
    if path.is_dir():
        inside = sorted(item for item in path.rglob("*") if item.is_file())
        listing = "\n".join(f"{item.relative_to(path)} {content_digest(item)}" for item in inside)
        return hashlib.sha256(listing.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _watched(lines: io.TextIOWrapper, raw: BinaryIO, file: str) -> Iterator[str]:
    watcher = _watcher.get()
    if watcher is None:
        yield from lines
        return
    total = Path(file).stat().st_size
    for number, line in enumerate(lines):
        if number % _STRIDE == 0:
            watcher(file, raw.tell(), total)
        yield line
    watcher(file, total, total)

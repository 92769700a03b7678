"""What the workloads made of real text share: texts as tokens, prompts made of pieces, files read once a process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from mechanism.prompts import Prompts
from sim.errors import ScenarioError
from sim.tokenizer import load_tokenizer
from sim.workloads._sharing import check_total

__all__ = ["FileKey", "Files", "Tokens", "encoder", "file_keys", "join_pieces"]

Tokens = npt.NDArray[np.int32]

#: One or more files.
Files = Annotated[tuple[Path, ...], Field(min_length=1)]

#: A file as it is now: path, time of change in ns, size. What is read of a file is cached under it.
FileKey = tuple[Path, int, int]


def file_keys(paths: Sequence[Path]) -> tuple[FileKey, ...]:
    """The keys under which readers cache these files for the life of the process.

    Raises
    ------
    ScenarioError
        A path where there is nothing.
    """
    keys = []
    for path in paths:
        try:
            state = path.stat()
        except OSError as error:
            raise ScenarioError(str(path), str(error.strerror), "a file that can be read") from error
        keys.append((path, state.st_mtime_ns, state.st_size))
    return tuple(keys)


@functools.cache
def encoder(tokenizer: str | None) -> Callable[[str], Tokens]:
    """The function from a text to its tokens; each distinct text is tokenised once a process."""
    encode = load_tokenizer(tokenizer)

    @functools.cache
    def tokens(text: str) -> Tokens:
        return np.array(list(encode(text)), dtype=np.int32)

    return tokens


def join_pieces(rows: Sequence[Sequence[Tokens]]) -> Prompts:
    """Prompts of which each is the pieces of a row, one after the other.

    >>> hello, world = np.array([1, 2]), np.array([3])
    >>> join_pieces([[hello, world], [world]]).symbols.tolist()
    [1, 2, 3, 3]
    """
    lengths = [sum(map(len, row)) for row in rows]
    check_total(sum(lengths))
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64)
    pieces = [piece for row in rows for piece in row]
    symbols = np.concatenate(pieces).astype(np.int32) if pieces else np.zeros(0, dtype=np.int32)
    return Prompts(symbols, indptr)

"""GSM8K: grade-school mathematics, one question with its worked answer a line (Cobbe et al. 2021)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from sim.errors import ScenarioError
from sim.json_rows import Row, read_rows, short
from sim.workloads._real_texts import FileKey, file_keys

__all__ = ["Problem", "read_gsm8k"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A question and its worked answer."""

    question: str
    answer: str

    def example(self) -> str:
        """The two as a worked example of a prompt."""
        return f"Question: {self.question}\nAnswer: {self.answer}\n\n"


def read_gsm8k(path: Path) -> tuple[Problem, ...]:
    """The problems of a file, in file order, stripped.

    Raises
    ------
    ScenarioError
        Not the format, with file, line and key; no problems.
    """
    problems = _read(*file_keys([path]))
    if not problems:
        raise ScenarioError(str(path), "no problems", "at least one line")
    return problems


@functools.lru_cache(maxsize=8)
def _read(key: FileKey) -> tuple[Problem, ...]:
    return tuple(Problem(_text(row, "question"), _text(row, "answer")) for row in read_rows(key[0]))


def _text(row: Row, key: str) -> str:
    text = row.get(key)
    if not isinstance(text, str) or not text.strip():
        raise row.problem(key, short(text), "a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise row.problem(key, "half a surrogate pair", "text that UTF-8 can spell") from None
    return text.strip()

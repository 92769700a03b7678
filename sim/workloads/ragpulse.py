"""RAGPulse: a week of a university's retrieval-augmented questions, as ids of the pieces each prompt is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sim.csv_rows import TextRow
from sim.errors import ScenarioError
from sim.json_rows import Row, read_rows, short
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Ragpulse"]

_TRACE = "0_trace.jsonl"
#: The lists of a record in the order of the prompt, each with its side file and the name of the id there.
_PARTS = {
    "sys_prompt": ("1_sys_prompt.jsonl", "sys_prompt_id"),
    "passages_ids": ("2_passages.jsonl", "passage_id"),
    "history": ("3_history.jsonl", "history_id"),
    "web_search": ("5_web_search.jsonl", "web_search_id"),
    "user_input": ("4_user_input.jsonl", "user_input_id"),
}


@dataclass(frozen=True, kw_only=True)
class Ragpulse(TraceOptions):
    """A folder with 0_trace.jsonl and the five side files that say how long its pieces are (or the path of the first).

    A prompt is its pieces in the order sys_prompt, passages_ids, history, web_search, user_input; what `input_length`
    counts beyond them (6 to 12 tokens of the template) is a private end. The file holds two recordings of one week,
    which are merged by time. A session is a cluster.
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        ("timestamp", "input_length", "output_length", "hash_ids", "session_id")
    )
    reads: ClassVar[str] = "times in s as text, ids in named lists"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the six files; O(pieces)."""
        path = self.path / _TRACE if self.path.is_dir() else self.path
        lengths = {part: _side_file(path.parent / file, key) for part, (file, key) in _PARTS.items()}
        trace = TraceBuilder(path, "timestamp")
        for record in read_rows(path):
            row = TextRow(record.data, record.file, record.line)
            row.check_keys(self.needs)
            _append_prompt(trace, row, lengths)
            trace.add(row, row.integer("output_length"), row.number("timestamp"), session=row.word("session_id"))
        return self.apply(trace.demand())


def _side_file(path: Path, key: str) -> dict[int, int]:
    """Tokens of each piece."""
    if not path.is_file():
        raise ScenarioError(str(path), "no such file", "the five side files beside 0_trace.jsonl")
    lengths: dict[int, int] = {}
    for row in read_rows(path):
        row.check_keys(frozenset((key, "token_length")))
        piece = row.integer(key)
        if piece in lengths:
            raise row.problem(key, f"{piece} for the second time", "each id once")
        lengths[piece] = row.integer("token_length")
    return lengths


def _append_prompt(trace: TraceBuilder, row: Row, lengths: dict[str, dict[int, int]]) -> None:
    named, total = row.get("hash_ids"), row.integer("input_length")
    if not isinstance(named, dict) or named.keys() != _PARTS.keys():
        raise row.problem("hash_ids", short(named), f"the lists {', '.join(_PARTS)}")
    ids: list[int] = []
    sizes: list[int] = []
    lists = Row(named, row.file, row.line)
    for part in _PARTS:
        for piece in lists.integers(part):
            size = lengths[part].get(piece)
            if size is None:
                raise row.problem(f"hash_ids.{part}", str(piece), f"an id of {_PARTS[part][0]}")
            if size:
                ids.append(piece)
                sizes.append(size)
    rest = total - sum(sizes)
    if rest < 0:
        raise row.problem("input_length", str(total), f"at least the {sum(sizes)} tokens of its pieces")
    if rest:
        ids.append(trace.private_id())
        sizes.append(rest)
    trace.symbols(row, "hash_ids", ids, sizes)

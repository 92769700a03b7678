"""Qwen's usage traces from Alibaba Bailian: production chats with salted hashes of their prompts' blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sim.errors import ScenarioError
from sim.json_rows import Row, read_rows
from sim.quantities import LengthTokens
from sim.requests import Demand
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder

__all__ = ["Bailian"]

_KEYS = frozenset(
    ("chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "turn", "hash_ids")
)


@dataclass(frozen=True, kw_only=True)
class Bailian(TraceOptions):
    """One request a line: `timestamp` in s, `chat_id` and `parent_chat_id` (−1 for a first turn), whole prompts.

    A session is a first turn and all that descend from it, wherever in the file they stand; its turns follow one
    another in time. A turn whose parent is not in the file starts a session.

    Attributes
    ----------
    block_tokens : tokens of a block.
    """

    block_tokens: LengthTokens = 16
    needs: ClassVar[frozenset[str]] = frozenset(("chat_id", "timestamp", "input_length", "output_length", "hash_ids"))
    reads: ClassVar[str] = "times in s, blocks of 16 tokens"

    def recorded(self) -> frozenset[str]:
        """Arrivals."""
        return frozenset({"arrivals"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:  # noqa: ARG002 (nothing is drawn)
        """Read the file; O(blocks)."""
        trace = TraceBuilder(self.path, "timestamp")
        parents: dict[str, tuple[str, int]] = {}
        for row in read_rows(self.path):
            row.check_keys(_KEYS)
            chat = row.word("chat_id")
            parents[chat] = _parent(row), row.line
            trace.blocks(row, "hash_ids", row.integer("input_length"), self.block_tokens)
            trace.add(row, row.integer("output_length"), row.number("timestamp"), request_id=chat)
        demand = trace.demand()
        return self.apply(replace(demand, session=self._sessions(parents)))

    def _sessions(self, parents: dict[str, tuple[str, int]]) -> tuple[str, ...]:
        """Of every chat the session, named after its first turn; O(chats)."""
        first: dict[str, str] = {}
        for chat in parents:
            path = {chat: None}
            while (last := next(reversed(path))) not in first and parents[last][0] in parents:
                parent, line = parents[last]
                if parent in path:
                    raise ScenarioError(
                        f"{self.path}:{line}: parent_chat_id", f'"{parent}"', "no descendant of its own"
                    )
                path[parent] = None
            first.update(dict.fromkeys(path, first.get(last, last)))
        return tuple(f"chat-{first[chat]}" for chat in parents)


def _parent(row: Row) -> str:
    return row.word("parent_chat_id") if "parent_chat_id" in row else "-1"

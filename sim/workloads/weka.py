"""Weka's Claude Code sessions (kv-cache-tester): coding agents and their sub-agents, one JSON document a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sim.errors import ScenarioError
from sim.json_rows import Row, short
from sim.quantities import Ratio
from sim.requests import Demand
from sim.workloads._json_items import read_json
from sim.workloads._session_starts import session_starts
from sim.workloads._trace import TraceOptions
from sim.workloads._trace_builder import TraceBuilder, ids_of

__all__ = ["Weka"]


class _Call(Row):
    """An entry of `requests`, at its address in the document."""

    __slots__ = ("address",)

    def __init__(self, data: Any, file: str, address: str, number: int) -> None:
        if not isinstance(data, dict):
            raise ScenarioError(f"{file}: {address}", short(data), "an object")
        super().__init__(data, file, number)
        self.address = address

    def problem(self, key: str, found: str, expected: str, suggestion: str = "") -> ScenarioError:
        return ScenarioError(f"{self.file}: {self.address}.{key}", found, expected, suggestion)


@dataclass(frozen=True, kw_only=True)
class Weka(TraceOptions):
    """A document, or a folder of them (`.json`, `.json.gz`): `requests` with `t` in s, `in`, `out` and `hash_ids`.

    Ids are local to a document, so each gets a range of its own. There may be as many ids as whole blocks; the tokens
    beyond are a private end. Entries of type subagent hold requests of their own, timed from the entry: a sub-agent is
    a session beside its parent's, which starts at its recorded time in a closed loop too. Prompts shrink where the
    agent compacts its context. Pauses are `think_time`, else what lies between two calls. Every document starts its
    clock at 0.

    Attributes
    ----------
    session_rate : documents that start per second, as a Poisson process; null = all at once.
    """

    session_rate: Ratio | None = None
    needs: ClassVar[frozenset[str]] = frozenset(("id", "block_size", "requests"))
    reads: ClassVar[str] = "times in s, ids local to a document"

    def recorded(self) -> frozenset[str]:
        """Arrivals, and the pauses in sessions."""
        return frozenset({"arrivals", "sessions"})

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Read the documents; O(blocks)."""
        trace = TraceBuilder(self.path, "t", 1.0, one_clock=False)
        first_free, scopes = 0, set()
        documents: list[str] = []
        names: dict[str, str] = {}
        for path in self._files():
            document = read_json(path).value
            head = _Call(document, str(path), "document", 0)
            scope = head.word("hash_id_scope") if "hash_id_scope" in head else "local"
            scopes.add(scope)
            if scope not in {"local", "global"} or len(scopes) > 1:
                raise head.problem("hash_id_scope", f'"{scope}"', "local, or global in every document")
            reader = _Document(trace, head, first_free if scope == "local" else 0, names)
            reader.read()
            first_free = reader.first_free
            documents.extend([str(path)] * (trace.num_records - len(documents)))
        return self.apply(session_starts(trace.demand(), self.session_rate, rng_stream, documents))

    def _files(self) -> list[Path]:
        if not self.path.is_dir():
            return [self.path]
        files = sorted(path for path in self.path.iterdir() if path.name.endswith((".json", ".json.gz")))
        if not files:
            raise ScenarioError(str(self.path), "no .json or .json.gz file", "a folder of documents")
        return files


class _Document:
    """One document, whose ids start at `base` in the trace; `names` says which sessions stand where so far."""

    def __init__(self, trace: TraceBuilder, head: _Call, base: int, names: dict[str, str]) -> None:
        self._trace, self._head, self._base, self._names = trace, head, base, names
        self._name, self._block = head.word("id"), head.integer("block_size", least=1)
        self.first_free = base

    def read(self) -> None:
        """Take in all its requests."""
        self._claim(self._name, self._head, "id")
        self._session(self._head, self._name, "requests", 0.0)

    def _claim(self, name: str, holder: _Call, key: str) -> None:
        """Sessions of one name would be one conversation, and their requests would share ids."""
        other = self._names.setdefault(name, f"{holder.file}: {holder.address}")
        if other != f"{holder.file}: {holder.address}":
            raise holder.problem(key, f'"{name}", which is in {other} too', "a name of its own")

    def _session(self, holder: _Call, name: str, address: str, start_s: float) -> None:
        before: _Call | None = None
        for number, call in enumerate(self._calls(holder, address)):
            if call.word("type") == "subagent":
                agent = f"{name}/{call.word('agent_id')}"
                self._claim(agent, call, "agent_id")
                self._session(call, agent, f"{call.address}.requests", start_s + call.number("t"))
                continue
            self._append_prompt(call)
            think_s = 0.0 if before is None else _pause(before, call)
            self._trace.add(
                call,
                call.integer("out"),
                start_s + call.number("t"),
                request_id=f"{name}/{number}",
                session=name,
                think_ns=round(think_s * 1e9),
            )
            before = call

    def _calls(self, holder: _Call, address: str) -> Iterator[_Call]:
        entries = holder.get("requests")
        if not isinstance(entries, list):
            raise holder.problem("requests", short(entries), "a list")
        for k, entry in enumerate(entries):
            yield _Call(entry, self._head.file, f"{address}[{k}]", k)

    def _append_prompt(self, call: _Call) -> None:
        local, total = ids_of(call, "hash_ids"), call.integer("in")
        whole, rest = divmod(total, self._block)
        if len(local) not in {whole, whole + (rest > 0)}:
            found = f"{len(local)} ids for {total} tokens in blocks of {self._block}"
            raise call.problem("hash_ids", found, f"{whole} ids, or one more for the rest of {rest} tokens")
        ids = [self._base + each for each in local]
        self.first_free = max(self.first_free, max(ids, default=-1) + 1)
        if rest and len(ids) == whole:
            ids.append(self._trace.private_id())
        self._trace.symbols(call, "hash_ids", ids, [self._block] * whole + [rest] * (rest > 0))


def _pause(before: _Call, call: _Call) -> float:
    """Seconds between the answer before and this call."""
    if "think_time" in call:
        return call.number("think_time")
    answered_s = before.number("t") + (before.number("api_time") if "api_time" in before else 0.0)
    return max(0.0, call.number("t") - answered_s)

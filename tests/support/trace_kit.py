"""What tests of traces stand on: small files written in place, and their requests."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from oracles import tokens_of

from sim import plugins
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream

__all__ = [
    "SHARED",
    "arrivals_s",
    "csv_of",
    "jsonl_of",
    "needs_shared",
    "prompts_of",
    "read",
    "refusal",
    "shared_oracle",
]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the traces in ../shared/data")


def csv_of(path: Path, *lines: str, end: str = "\n") -> Path:
    """Lines as a file, without a newline at its end."""
    path.write_bytes(end.join(lines).encode())
    return path


def jsonl_of(path: Path, *records: dict[str, Any]) -> Path:
    """Records as JSON lines; packed where the name says so."""
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(kind: str, path: Path, seed: int = 0, **parameters: Any) -> Demand:
    """The requests of a trace."""
    demand: Demand = plugins.load("sim.workloads", kind)(path=path, **parameters).generate(partial(stream, seed, 0))
    return demand


def refusal(kind: str, path: Path, **parameters: Any) -> str:
    """What reading a trace complains about; the exit code is 2."""
    with pytest.raises(ScenarioError) as caught:
        read(kind, path, **parameters)
    assert caught.value.exit_code == 2
    return str(caught.value).replace(f"{path.parent}/", "")


def arrivals_s(demand: Demand) -> list[float]:
    """Arrivals in seconds."""
    assert demand.arrival_ns is not None
    return [each / 1e9 for each in demand.arrival_ns.tolist()]


def prompts_of(demand: Demand) -> list[list[tuple[int, int]]]:
    """(id, tokens) of every prompt's symbols."""
    prompts = demand.prompts
    lengths = [1] * len(prompts.symbols) if prompts.lengths is None else prompts.lengths.tolist()
    pairs = list(zip(prompts.symbols.tolist(), lengths, strict=True))
    bounds = prompts.indptr.tolist()
    return [pairs[a:b] for a, b in itertools.pairwise(bounds)]


def shared_oracle(prompts: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """Tokens that each prompt shares with any earlier one, at most its length − 1, token by token."""
    texts = [tokens_of(prompt) for prompt in prompts]
    found = []
    for i, text in enumerate(texts):
        best = 0
        for earlier in texts[:i]:
            same = 0
            while same < min(len(text), len(earlier)) and text[same] == earlier[same]:
                same += 1
            best = max(best, same)
        found.append(min(best, len(text) - 1))
    return found

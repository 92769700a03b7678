"""Small files in the formats of the real data sets, in words of our own."""

from __future__ import annotations

import gzip
import json
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sim.requests import Demand
from sim.rng import stream

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the real data sets in ../shared/data")

SQUAD_FILES = (SHARED / "squad/dev-v2.0.json", SHARED / "squad/test-v2.0.json")


def draw(workload: Any, trial: int = 0, seed: int = 0) -> Demand:
    """The workload's requests of one trial."""
    demand: Demand = workload.generate(partial(stream, seed, trial))
    return demand


def texts(demand: Demand) -> list[str]:
    """The prompts of a workload whose symbols are UTF-8 bytes."""
    symbols, indptr = demand.prompts.symbols, demand.prompts.indptr.tolist()
    return [bytes(symbols[a:b].tolist()).decode() for a, b in pairwise(indptr)]


def save(path: Path, document: Any) -> Path:
    """`document` as JSON; gzipped where the name says so."""
    data = json.dumps(document).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def article(title: str, *paragraphs: tuple[str, list[str]]) -> dict[str, Any]:
    """An article of SQuAD: paragraphs and their questions; every answer is the title."""
    return {
        "title": title,
        "paragraphs": [
            {
                "context": context,
                "qas": [
                    {"id": question, "question": question, "answers": [{"text": title, "answer_start": 0}]}
                    for question in questions
                ],
            }
            for context, questions in paragraphs
        ],
    }


def squad(path: Path, *articles: dict[str, Any], version: str = "1.1") -> Path:
    """A SQuAD file."""
    return save(path, {"version": version, "data": list(articles)})


def gsm8k(path: Path, count: int) -> Path:
    """`count` problems; the answer to problem k is k."""
    rows = [{"question": f"How many are {k} and none?", "answer": f"Still {k}.\n#### {k}"} for k in range(count)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message of a trajectory."""
    return {"role": role, "content": content, **more}


def called(name: str, arguments: str) -> dict[str, Any]:
    """A call of a tool in an assistant's message."""
    return {"type": "function", "id": "call-1", "function": {"name": name, "arguments": arguments}}

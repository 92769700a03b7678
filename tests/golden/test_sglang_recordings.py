"""Every recording of a real SGLang server, 0.5.9 and 0.5.23, reproduced pass by pass.

The recordings (`sglang-*/*.json.gz`) were made by a logging hook on an unmodified server: arrivals and passes in
order. Fed the same arrivals before each pass and nothing else, the engine must decide the same every time.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_kit import request_table

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig, Pass
from sim.requests import RequestTable

RECORDINGS = sorted(Path(__file__).parent.glob("sglang-*/*.json.gz"))


def load(path: Path) -> dict[str, Any]:
    with gzip.open(path) as file:
        recording: dict[str, Any] = json.load(file)
    return recording


def table_of(requests: list[dict[str, Any]]) -> RequestTable:
    outputs = [each["output_ids"] for each in requests]
    lengths = [len(each) for each in outputs]
    return request_table([each["input_ids"] for each in requests], lengths, Prompts.from_lists(outputs))


def config_of(recording: dict[str, Any]) -> EngineConfig:
    return EngineConfig(engine=recording["sglang"], **recording["server"])


def replay(engine: Engine, recording: dict[str, Any]) -> Iterator[tuple[list[Any], Pass | None]]:
    """Turn the engine's loop once for every recorded pass, as the server's loop turned."""
    overlap, pending = recording["server"]["overlap"], None
    index_of = {each["id"]: index for index, each in enumerate(recording["requests"])}
    for event in recording["events"]:
        if event[0] == "queue":
            if event[2] == "new":
                engine.enqueue(index_of[event[1]])
            continue
        batch = engine.schedule_once()
        yield event, batch
        due, pending = (pending, batch) if overlap else (batch, None)
        if due is not None:
            engine.complete(due)
        engine.check_integrity()


def test_all_recordings_are_here() -> None:
    assert Counter(path.parent.name for path in RECORDINGS) == {"sglang-0.5.9": 55, "sglang-0.5.23": 47}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_recording_is_reproduced(path: Path) -> None:
    recording = load(path)
    requests = recording["requests"]
    engine = Engine(config_of(recording), table_of(requests))
    for number, (event, batch) in enumerate(replay(engine, recording)):
        _, kind, members, waiting, ratio, available, evictable, full = event
        memory, ids = engine.memory, [requests[index]["id"] for index in batch.members] if batch else []
        found = [batch.kind if batch else "none", ids, engine.waiting, memory.free, memory.cache.evictable]
        assert [*found, engine.batch_is_full] == [kind, members, waiting, available, evictable, full], number
        assert engine.new_token_ratio == pytest.approx(ratio, abs=1e-6), number
    assert engine.cached_tokens == [each["cached_tokens"] for each in requests]
    assert engine.num_retractions == [each["total_retractions"] for each in requests]

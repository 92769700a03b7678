"""Replaying what a logging hook wrote down of a server: the same arrivals before each pass, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from engine_kit import request_table

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig, Pass

Event = Sequence[Any]


def replay(
    engine: Engine,
    events: Sequence[Event],
    index_of: Mapping[str, int],
    *,
    overlap: bool,
    priorities: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[tuple[Event, Pass | None]]:
    """Turn the engine's loop once for every recorded pass, as the server's loop turned."""
    pending: Pass | None = None
    for event in events:
        if event[0] == "queue":
            if event[2] == "new":
                engine.enqueue(index_of[event[1]], priorities.get(event[1], 0))
            continue
        batch = engine.schedule_once()
        yield event, batch
        due, pending = (pending, batch) if overlap else (batch, None)
        if due is not None:
            engine.complete(due)
        engine.check_integrity()


def seen(engine: Engine, batch: Pass | None, ids: Sequence[str]) -> list[Any]:
    """What an event of the hook says of a pass, but for the share of unused output that is reserved."""
    memory, members = engine.memory, [ids[index] for index in batch.members] if batch else []
    kind = batch.kind if batch else "none"
    return [kind, members, engine.waiting, memory.free, memory.cache.evictable, engine.batch_is_full]


def told(event: Event) -> list[Any]:
    """The same of an event."""
    _, kind, members, waiting, _, available, evictable, full = event
    return [kind, members, waiting, available, evictable, full]


def check_reproduced(recording: Mapping[str, Any]) -> None:
    """AssertionError unless our engine decides every pass of a recording as its server did."""
    requests, server = recording["requests"], recording["server"]
    ids, outputs = [each["id"] for each in requests], [each["output_ids"] for each in requests]
    lengths = [len(each) for each in outputs]
    table = request_table([each["input_ids"] for each in requests], lengths, Prompts.from_lists(outputs))
    engine = Engine(EngineConfig(engine=recording["sglang"], **server), table)
    index_of = {name: index for index, name in enumerate(ids)}
    priorities = {each["id"]: each.get("priority", 0) for each in requests}
    passes = replay(engine, recording["events"], index_of, overlap=server["overlap"], priorities=priorities)
    for number, (event, batch) in enumerate(passes):
        assert seen(engine, batch, ids) == told(event), number
        assert engine.new_token_ratio == pytest.approx(event[4], abs=1e-6), number
    assert engine.cached_tokens == [each["cached_tokens"] for each in requests]
    assert engine.num_retractions == [each["total_retractions"] for each in requests]

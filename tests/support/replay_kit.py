"""Replaying what a logging hook wrote down of a server: the same arrivals before each pass, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sim.engine import Engine, Pass

Event = Sequence[Any]


def replay(
    engine: Engine, events: Sequence[Event], index_of: Mapping[str, int], *, overlap: bool
) -> Iterator[tuple[Event, Pass | None]]:
    """Turn the engine's loop once for every recorded pass, as the server's loop turned."""
    pending: Pass | None = None
    for event in events:
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


def seen(engine: Engine, batch: Pass | None, ids: Sequence[str]) -> list[Any]:
    """What an event of the hook says of a pass, but for the share of unused output that is reserved."""
    memory, members = engine.memory, [ids[index] for index in batch.members] if batch else []
    kind = batch.kind if batch else "none"
    return [kind, members, engine.waiting, memory.free, memory.cache.evictable, engine.batch_is_full]


def told(event: Event) -> list[Any]:
    """The same of an event."""
    _, kind, members, waiting, _, available, evictable, full = event
    return [kind, members, waiting, available, evictable, full]

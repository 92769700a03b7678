"""Sending running requests back to the queue when their next tokens do not fit."""

from __future__ import annotations

from sim.errors import InvariantError
from sim.kv_memory import KvMemory
from sim.running import RunningBatch
from sim.sequences import Sequence

__all__ = ["RETRACT_STEPS", "ratio_after", "retract"]

#: Room is made, and the new ratio assumes, that those who stay decode so many tokens more.
RETRACT_STEPS = 20


def retract(running: RunningBatch, memory: KvMemory) -> list[Sequence]:
    """Take requests out of the batch until its next decode pass fits; returns them in the order they left.

    Fewest outputs first, among those the longest prompt, then the last in the batch; one request always stays. The
    batch goes on in the order of preference. InvariantError where the server would give up.
    """
    kept = sorted(running.members, key=lambda each: (running.outputs(each), -each.prompt), reverse=True)
    retracted: list[Sequence] = []
    while len(kept) > 1 and (not retracted or not _fits(kept, running, memory)):
        victim = kept.pop()
        retracted.append(victim)
        running.withdraw(victim)
        memory.discard(victim, victim.resident)
        memory.make_room(len(kept) * RETRACT_STEPS)
    if not _fits(kept, running, memory):
        raise InvariantError(f"KV memory: request {kept[0].index} does not fit alone; the server would give up.")
    running.reorder(kept)
    return retracted


def ratio_after(running: RunningBatch) -> float:
    """new_token_ratio as estimated from those who stay: (Σ outputs + 20·n) / (Σ max_new + 1)."""
    outputs = sum(running.outputs(each) for each in running.members)
    largest = sum(each.max_new for each in running.members)
    return (outputs + RETRACT_STEPS * len(running.members)) / (largest + 1)


def _fits(kept: list[Sequence], running: RunningBatch, memory: KvMemory) -> bool:
    """Whether the next decode pass of `kept` finds its slots, after eviction."""
    page = memory.page
    return memory.make_room(sum(page for each in kept if running.resident(each) % page == 0))

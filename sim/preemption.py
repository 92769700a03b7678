"""Sending running requests back to the queue so that a more important one gets their place.

What SGLang does at max_running_requests when it schedules by priority. Who is sent back loses the KV slots of his
outputs at once, keeps what of his prompt is in the cache as long as nobody evicts it, and is prefilled again later
with prompt and outputs so far.
"""

from __future__ import annotations

from sim.kv_memory import KvMemory
from sim.retraction import RETRACT_STEPS
from sim.running import RunningBatch
from sim.sequences import Sequence

__all__ = ["preempt", "victims_of"]


def victims_of(
    newcomer: Sequence,
    running: RunningBatch,
    threshold: int,
    missing_tokens: float,
    ratio: float,
) -> list[Sequence]:
    """Whom a waiting request may push out of the running batch, in batch order; empty if nobody, or too few.

    The least priority first, of equal ones who queued last, as long as the newcomer's is larger by more than
    `threshold`: one request, and more until what admission reserves for them, at
    new_token_ratio `ratio`, covers `missing_tokens`. O(n log n) in the batch.
    """
    if not running.members or newcomer.priority - min(each.priority for each in running.members) <= threshold:
        return []
    victims: list[Sequence] = []
    for each in sorted(running.members, key=lambda each: (each.priority, -each.entered)):
        if newcomer.priority - each.priority <= threshold:
            break
        victims.append(each)
        missing_tokens -= running.reserved_for(each, ratio)
        if missing_tokens <= 0:
            return [each for each in running.members if each in victims]
    return []


def preempt(victims: list[Sequence], running: RunningBatch, memory: KvMemory) -> None:
    """Take the victims out of the batch; after each, room is made as after a retraction."""
    for gone, each in enumerate(victims, start=1):
        running.withdraw(each)
        memory.discard(each, each.resident)
        memory.make_room((len(running.members) - gone) * RETRACT_STEPS)
    running.reorder([each for each in running.members if each not in victims])

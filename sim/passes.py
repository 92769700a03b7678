"""What the engine hands out: a scheduled pass, and what its result brought."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sim.kv_memory import KvMemory
from sim.running import RunningBatch
from sim.sequences import Sequence

__all__ = ["Completed", "Pass", "decode_pass", "prefill_pass"]


class Pass(NamedTuple):
    """One scheduled forward pass, and what a latency model needs to know of it.

    Attributes
    ----------
    kind : "prefill" or "decode".
    members : request indices in batch order.
    admitted : those of them that never were in a pass before.
    new_tokens : Σ tokens computed (a decode pass: one a member).
    context_tokens : Σ KV slots of a decode pass's members, the new ones included; 0 for a prefill.
    attention_work : Σ new·(prefix + new/2) of a prefill; 0 for a decode pass.
    kv_used_tokens : slots held by requests or the cache, once the pass has its own.
    evicted_tokens : evicted to schedule it.
    sequences, chunked : the engine's own view of the members; the one whose prefill goes on after this pass.
    """

    kind: Literal["prefill", "decode"]
    members: tuple[int, ...]
    admitted: tuple[int, ...]
    new_tokens: int
    context_tokens: int
    attention_work: float
    kv_used_tokens: int
    evicted_tokens: int
    sequences: list[Sequence]
    chunked: Sequence | None


class Completed(NamedTuple):
    """Requests whose first token, and requests whose last token, a result brought; in batch order."""

    first_tokens: list[int]
    finished: list[int]


def prefill_pass(sequences: list[Sequence], chunked: Sequence | None, memory: KvMemory) -> Pass:
    """The pass that computes [prefix, extend_end) of each of `sequences`; gives them their slots."""
    new, work, admitted = 0, 0.0, []
    for each in sequences:
        extend = each.extend_end - each.prefix
        new += extend
        work += extend * (each.prefix + extend / 2)
        if not each.started:
            admitted.append(each.index)
    members = tuple([each.index for each in sequences])
    memory.prefill(sequences, new)
    return Pass("prefill", members, tuple(admitted), new, 0, work, memory.used, memory.evicted, sequences, chunked)


def decode_pass(running: RunningBatch, memory: KvMemory) -> Pass:
    """The pass in which every member of `running`, which has its slot already, computes one token."""
    size, context = len(running.members), running.context_tokens
    used, evicted = memory.used, memory.evicted
    return Pass("decode", running.indices, (), size, context, 0.0, used, evicted, running.members, None)

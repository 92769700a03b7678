"""One request inside the engine: where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.kv_cache import Node

__all__ = ["Sequence"]


class Sequence:
    """A request from its arrival in the waiting queue to its last token.

    While it runs, `outputs` and `resident` are relative to the running batch's counters (see `sim.running`), so
    that a decode pass costs nothing per request.

    Attributes
    ----------
    index : the request's index in the table.
    priority : the larger, the earlier; only servers with priority scheduling look at it.
    entered : when it last entered the waiting queue, counted in entries.
    prompt, max_new : prompt tokens, and the output tokens it will produce (capped as the server caps them).
    outputs : output tokens the engine has seen.
    resident : tokens with a KV slot.
    sought : tokens it had when the cache was last asked for its prefix; 0 = never yet.
    prefix, extend_end : the prefill pass in progress computes tokens [prefix, extend_end).
    protected : leading tokens held through the lock on `locked`; the rest of its slots are its own.
    node : deepest node of the cache known to lie on its path; a hint, it may have been evicted since.
    locked : node whose path it locks.
    inserted : leading tokens it has inserted (what hit counts leave out).
    rank : position among the running.
    running, retracted, finished : its state; none of them = waiting or in prefill.
    """

    __slots__ = (
        "entered",
        "extend_end",
        "finished",
        "index",
        "inserted",
        "locked",
        "max_new",
        "node",
        "outputs",
        "prefix",
        "priority",
        "prompt",
        "protected",
        "rank",
        "resident",
        "retracted",
        "running",
        "sought",
        "started",
    )

    def __init__(self, index: int, prompt: int, max_new: int, root: Node, priority: int = 0) -> None:
        self.index, self.prompt, self.max_new, self.priority = index, prompt, max_new, priority
        self.outputs = self.resident = self.prefix = self.extend_end = self.protected = self.inserted = 0
        self.node = self.locked = root
        self.entered = self.sought = self.rank = 0
        self.running = self.retracted = self.finished = self.started = False

    def __repr__(self) -> str:
        return f"Sequence({self.index}, prompt={self.prompt}, outputs={self.outputs}/{self.max_new})"

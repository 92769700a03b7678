"""The settings of a server that change what its engine decides."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EngineConfig"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """Names and defaults as in a scenario's `backend:` block.

    Attributes
    ----------
    engine : whose rules, a key of `sim.engine_rules.RULES`.
    overlap : results are processed one pass late, as the server does by default.
    kv_tokens : capacity of the KV cache; None = unbounded.
    page_tokens : allocation unit of the KV cache.
    eviction : lru, lfu, slru, priority, fifo, filo or mru (sim.eviction).
    chunked_prefill_tokens : longest prefill of one pass; None = no chunking.
    max_prefill_tokens : input tokens admitted into one pass.
    max_running_requests : None = no limit.
    schedule_conservativeness : scales new_token_ratio.
    schedule_policy : fcfs, lof, lpm or dfs-weight.
    context_tokens : longest prompt + output of the model; None = no limit.
    priority_scheduling : the waiting queue is ordered by the requests' priorities, larger first.
    preemption_threshold : with it, at max_running_requests a waiting request takes the place of running ones whose
        priorities are smaller by more than this; None = nobody is preempted.
    ignore_eos : clients ask for exactly their output length (`ignore_eos` in a request), as ours do.
    """

    engine: str = "0.5.23"
    overlap: bool = True
    kv_tokens: int | None = None
    page_tokens: int = 1
    eviction: str = "lru"
    chunked_prefill_tokens: int | None = 8192
    max_prefill_tokens: int = 16384
    max_running_requests: int | None = None
    schedule_conservativeness: float = 1.0
    schedule_policy: str = "fcfs"
    context_tokens: int | None = None
    priority_scheduling: bool = False
    preemption_threshold: int | None = None
    ignore_eos: bool = True

    @property
    def preempts(self) -> bool:
        """Whether a request can be sent back to the queue for the sake of a waiting one."""
        return self.priority_scheduling and self.preemption_threshold is not None

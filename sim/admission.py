"""The admission budget: which waiting requests join the next prefill pass, and with how many tokens."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from sim.engine_config import EngineConfig
from sim.engine_rules import CLIPPED_NEW_TOKENS, EngineRules
from sim.kv_memory import KvMemory, pages
from sim.preemption import preempt, victims_of
from sim.running import RunningBatch
from sim.sequences import Sequence

__all__ = ["Admission", "Verdict"]

#: Budgets are sums of floats; closer to equal than this, they are added up again in the server's order.
NEAR = 1e-3


class Verdict(Enum):
    """What comes after a request was considered."""

    CONTINUE = "consider the next one"
    NO_TOKEN = "the pass is complete, memory is short"
    STOP = "the pass is complete"


class Admission:
    """The budget of one prefill pass.

    Remaining memory = free + evictable − offset; the offset is what running requests may still need (their
    remaining output × new_token_ratio), plus what was admitted here.

    Attributes
    ----------
    admitted : batch order. chunked : the request cut short here, if any.
    preempted : running requests that had to leave for them, in batch order.
    """

    __slots__ = (
        "_chunk",
        "_config",
        "_exact",
        "_extend",
        "_input",
        "_memory",
        "_offset",
        "_ratio",
        "_reserves",
        "_rules",
        "_running",
        "admitted",
        "chunked",
        "preempted",
    )

    def __init__(
        self, config: EngineConfig, rules: EngineRules, memory: KvMemory, running: RunningBatch, ratio: float
    ) -> None:
        self._config, self._rules, self._memory, self._running = config, rules, memory, running
        self._ratio = 1.0 if rules.reserves_whole_output and config.ignore_eos else ratio
        self._input, self._chunk = config.max_prefill_tokens, config.chunked_prefill_tokens
        self._offset, self._exact = running.reserved(self._ratio), self._ratio == 1.0
        self._extend = 0
        self._reserves: list[int] = []
        self.admitted: list[Sequence] = []
        self.chunked: Sequence | None = None
        self.preempted: list[Sequence] = []

    def fill(self, queue: Iterable[Sequence]) -> bool:
        """Consider the requests of `queue` in order, as many as may run; whether admission is closed after."""
        if self._rules.stops_when_spent and self.state() is Verdict.STOP:
            return False
        closed = False
        for each in queue:
            closed = closed or self._no_slot()
            if closed and not (self._config.preempts and self._make_way(each)):
                return True
            self._memory.match(each)
            verdict = self.consider(each)
            if verdict is Verdict.NO_TOKEN:
                return self._rules.refusal_closes_idle or bool(self.admitted or self._running.members)
            if verdict is Verdict.STOP:
                return closed
        return closed

    def _no_slot(self) -> bool:
        limit = self._config.max_running_requests
        return limit is not None and len(self.admitted) >= limit - len(self._running.members)

    def _make_way(self, sequence: Sequence) -> bool:
        """Preempt for `sequence`, which is not matched in this pass yet: its demand is what its last match left."""
        need = sequence.sought - sequence.prefix + min(sequence.max_new, CLIPPED_NEW_TOKENS)
        missing = need - (self._memory.obtainable - self._exact_offset())
        threshold = self._config.preemption_threshold
        assert threshold is not None
        victims = victims_of(sequence, self._running, threshold, missing, self._ratio)
        if not victims:
            return False
        for each in victims:
            self._offset -= self._running.reserved_for(each, self._ratio)
        preempt(victims, self._running, self._memory)
        self.preempted += victims
        return True

    def state(self) -> Verdict:
        """Whether anything is left to admit with."""
        if self._below_memory(0) or self._memory.obtainable <= self._extend:
            return Verdict.NO_TOKEN
        if self._input <= 0 or (self._chunk is not None and self._chunk <= 0):
            return Verdict.STOP
        return Verdict.CONTINUE

    def go_on(self, sequence: Sequence) -> bool:
        """Take the chunked request's next piece; whether it is still not its last."""
        assert self._chunk is not None
        room = min(self._chunk, int(self._memory.obtainable - self._exact_offset()))
        if room <= 0:
            room = self._chunk  # it must go on to ever release what it holds
        left = sequence.prompt + sequence.outputs - sequence.resident
        taken = min(left, room)
        sequence.prefix = sequence.resident
        sequence.extend_end = sequence.prefix + taken
        self._take(sequence, taken, whole=taken == left)
        return taken < left

    def consider(self, sequence: Sequence) -> Verdict:
        """Admit the matched `sequence`, whole or cut, or say why not. Locks its prefix when admitted."""
        extend = sequence.prompt + sequence.outputs - sequence.prefix
        paged = pages(extend, self._memory.page)
        need = extend + min(max(sequence.max_new - sequence.outputs, 0), CLIPPED_NEW_TOKENS)
        if self._rules.page_per_request:
            need += self._memory.page
        if self._rules.refuses_before_lock:
            if self._below_memory(need):
                return Verdict.NO_TOKEN
            if self._refused_by_input(paged):
                return Verdict.STOP
        self._memory.cache.lock(sequence.node)
        verdict = self._fit(sequence, extend, paged, need)
        if verdict is not None:
            self._memory.cache.unlock(sequence.node)
            return verdict
        sequence.locked, sequence.protected = sequence.node, sequence.prefix
        return self.state()

    def _fit(self, sequence: Sequence, extend: int, paged: int, need: int) -> Verdict | None:
        """With the prefix locked: take the request, or say why it cannot be taken."""
        if self._below_memory(need):
            return Verdict.NO_TOKEN
        if self._refused_by_input(paged):
            return Verdict.STOP
        if self._chunk is None or paged <= self._chunk:
            sequence.extend_end = sequence.prefix + extend
            self._take(sequence, extend, whole=True)
            return None
        cut = self._chunk - self._chunk % self._memory.page
        if cut <= 0:
            return Verdict.STOP
        sequence.extend_end = sequence.prefix + cut
        self._take(sequence, cut, whole=False)
        self.chunked = sequence
        return None

    def _refused_by_input(self, paged: int) -> bool:
        counts = self._chunk is None or self._rules.prefill_limit_with_chunks
        return counts and bool(self.admitted) and paged >= self._input

    def _take(self, sequence: Sequence, extend: int, *, whole: bool) -> None:
        paged = pages(extend, self._memory.page)
        immediate = paged + self._memory.page if self._rules.page_per_request else paged
        reserve = immediate + (min(sequence.max_new, CLIPPED_NEW_TOKENS) if whole else 0)
        self.admitted.append(sequence)
        self._offset += reserve
        self._reserves.append(reserve)
        self._extend += immediate
        self._input -= paged
        if self._chunk is not None:
            self._chunk -= paged

    def _below_memory(self, need: int) -> bool:
        """Whether remaining memory is at most `need`."""
        remaining = self._memory.obtainable - self._offset
        if not self._exact and abs(remaining - need) < NEAR:
            remaining = self._memory.obtainable - self._exact_offset()
        return remaining <= need

    def _exact_offset(self) -> float:
        """The offset with the server's own rounding: one addition a request, in batch order."""
        if not self._exact:
            self._offset, self._exact = self._running.reserved_exactly(self._ratio), True
            for reserve in self._reserves:
                self._offset += reserve
        return self._offset

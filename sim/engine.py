"""The SGLang scheduler, apart from the clock: requests in, one scheduling pass out."""

from __future__ import annotations

from collections import deque

from sim.admission import Admission
from sim.engine_config import EngineConfig
from sim.engine_rules import rules_of
from sim.errors import InvariantError
from sim.kv_memory import KvMemory
from sim.new_token_ratio import NewTokenRatio
from sim.passes import Completed, Pass, decode_pass, prefill_pass
from sim.requests import RequestTable
from sim.retraction import ratio_after, retract
from sim.running import RunningBatch
from sim.schedule_policy import waiting_order
from sim.sequences import Sequence
from sim.token_text import text_of

__all__ = ["Completed", "Engine", "EngineConfig", "Pass"]


class Engine:
    """A server's scheduler and KV cache, without a clock.

    A driver calls `enqueue` for arrivals, then `schedule` for the next pass, and `complete` when the result of a
    pass is there. Without overlap: schedule, complete, schedule, complete. With overlap the result of pass t − 1
    is processed after pass t was scheduled: schedule t, complete t − 1, schedule t + 1, complete t. `schedule`
    returning None with a result outstanding means: complete it, then ask again.

    Equal decode passes can be jumped over: `horizon(batch)` says how many more repeat the pending `batch`,
    `advance(batch, k)` does k of them. `accepting` is False while no arrival could change the next pass.

    Attributes
    ----------
    memory, running : the KV slots with their cache, and the running batch.
    batch_is_full : admission is closed until a request leaves.
    cached_tokens : per request, tokens found in the cache at its first admission; None before.
    num_retractions, prompt_tokens : per request. Preemptions count as retractions, as the server counts them.
    """

    def __init__(self, config: EngineConfig, requests: RequestTable) -> None:
        self._config, self._rules = config, rules_of(config.engine)
        self.memory = KvMemory(config, self._rules, text_of(requests, config.page_tokens))
        self.running = RunningBatch(config.page_tokens)
        self._order = waiting_order(config, self._rules, self.memory, requests)
        self._ratio = NewTokenRatio(config.schedule_conservativeness)
        self._queue: deque[Sequence] = deque()
        self._entries = 0
        self._chunked: Sequence | None = None
        self._last: Pass | None = None
        self._pending: deque[Pass] = deque()
        self.batch_is_full = self._idled = False
        self.prompt_tokens: list[int] = requests.prompt_tokens.tolist()
        self._output_tokens: list[int] = requests.output_tokens.tolist()
        self.cached_tokens: list[int | None] = [None] * len(requests)
        self.num_retractions: list[int] = [0] * len(requests)

    # ---- queries

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._queue)

    @property
    def waiting_requests(self) -> tuple[int, ...]:
        """Their indices, in queue order."""
        return tuple([each.index for each in self._queue])

    @property
    def new_token_ratio(self) -> float:
        """The share of unused output that admission reserves."""
        return self._ratio.value

    @property
    def accepting(self) -> bool:
        """Whether a request that arrives now could change the next pass."""
        return self._config.preempts or not self.batch_is_full or self._chunked is not None

    def output_tokens(self, index: int) -> int:
        """Output tokens the server will produce for a request: what it asks for, capped by what can fit."""
        return max(1, self._max_new(index))

    # ---- commands

    def enqueue(self, index: int, priority: int = 0) -> None:
        """A request arrives at the end of the waiting queue. It must fit the server (`Limits.refusal`)."""
        root = self.memory.cache.root
        self._enter(Sequence(index, self.prompt_tokens[index], self._max_new(index), root, priority))

    def schedule(self) -> Pass | None:
        """The next pass; None when nothing runs (see the class). InvariantError if requests wait and none ever will."""
        batch = self.schedule_once()
        if batch is None and self._queue and not self._pending:
            batch = self.schedule_once()  # an empty pass may only have opened admission again
            if batch is None:
                raise InvariantError(
                    f"No progress: nothing runs, {len(self._queue)} requests wait, and the first of them, "
                    f"{self._queue[0]}, is not admitted to {self.memory.obtainable} KV slots."
                )
        return batch

    def schedule_once(self) -> Pass | None:
        """One turn of the scheduler's loop, also when it finds nothing to run."""
        if len(self._pending) > self._config.overlap:
            raise InvariantError(f"schedule: {len(self._pending)} results outstanding; complete the oldest first.")
        self.memory.evicted = 0
        if self._idled:
            self._ratio.reset()
        if self._chunked is not None:
            self.memory.share(self._chunked)
        self._merge_last_prefill()
        if self._rules.filters_before_prefill and self.running.drop_finished():
            self.batch_is_full = False
        batch = self._prefill() or self._decode()
        if batch is not None:
            self._pending.append(batch)
        self._idled = batch is None and self._idles()
        self._last = batch
        return batch

    def complete(self, batch: Pass) -> Completed:
        """Process the result of the oldest outstanding pass."""
        if not self._pending or self._pending[0] is not batch:
            raise InvariantError("complete: not the oldest outstanding pass.")
        self._pending.popleft()
        if batch.kind == "prefill":
            return self._complete_prefill(batch)
        finished = []
        for each in self.running.process():
            if not each.running:  # left out of later passes because this result ends it
                self.running.see_output(each)
            self._finish(each)
            finished.append(each.index)
        return Completed([], finished)

    def horizon(self, batch: Pass) -> int:
        """How many further passes would repeat the pending decode pass `batch` with nothing else happening.

        No admission attempt, no request ending, no eviction, no retraction; only slots, outputs and the ratio move.
        """
        settled = batch.kind == "decode" and len(self._pending) == 1 and self._pending[0] is batch
        tries = self._queue and (self._config.preempts or not self.batch_is_full)
        if not settled or tries or self.running.has_finished:
            return 0
        return self.running.passes_within(self.memory.free, self.running.steps_to_finish - 1)

    def advance(self, batch: Pass, k: int) -> Pass:
        """`k` times (complete, schedule) at once, in the driver's order; returns the pass then pending."""
        if not 1 <= k <= self.horizon(batch):
            raise InvariantError(f"advance: {k} passes, horizon {self.horizon(batch)}.")
        self.memory.evicted = 0
        self.memory.take(self.running.slots_needed(k))
        self.running.scheduled += k
        self.running.process(k)
        self._ratio.decay(k)
        self._last = decode_pass(self.running, self.memory)
        self._pending[0] = self._last
        return self._last

    # ---- prefill

    def _merge_last_prefill(self) -> None:
        """Whoever the last pass prefilled begins to decode; the request it cut short does not."""
        last = self._last
        if last is None or last.kind != "prefill":
            return
        kept = [each for each in last.sequences if not each.finished and each is not last.chunked]
        if len(kept) < len(last.sequences):
            self.batch_is_full = False
        if kept:
            if not self.running.members:
                self.batch_is_full = False  # the new batch takes the old one's place, with its own flag
            self.running.join(kept)

    def _prefill(self) -> Pass | None:
        """Admit what fits into a prefill pass, None if that is nothing."""
        config, members, continued = self._config, len(self.running.members), self._chunked
        if config.preempts or (self._rules.opens_when_empty and not members):
            self.batch_is_full = False
        if (self.batch_is_full or not self._queue) and continued is None:
            return None
        taken = config.max_running_requests is not None and members >= config.max_running_requests
        if taken and not config.preempts and (continued is not None) == self._rules.chunk_waits_for_slot:
            self.batch_is_full = True
            return None
        self._order.arrange(self._queue, self._entries)
        admission = Admission(config, self._rules, self.memory, self.running, self._ratio.value)
        if continued is not None and not admission.go_on(continued):
            self._chunked = None
        if not self.batch_is_full:
            self.batch_is_full = admission.fill(self._queue)
        for _ in range(len(admission.admitted) - (continued is not None)):
            self._queue.popleft()
        self._send_back(admission.preempted)
        if not admission.admitted:
            return None
        if admission.chunked is not None:
            self._chunked = admission.chunked
        batch = prefill_pass(admission.admitted, self._chunked, self.memory)
        for each in batch.sequences:
            each.retracted = False
            if not each.started:
                each.started = True
                self.cached_tokens[each.index] = each.prefix
        return batch

    def _complete_prefill(self, batch: Pass) -> Completed:
        first, finished = [], []
        for each in batch.sequences:
            if each.retracted or each is batch.chunked:
                continue
            self.running.see_output(each)
            outputs = self.running.outputs(each)
            if outputs == 1:
                first.append(each.index)
            if outputs >= each.max_new:
                self._finish(each)
                finished.append(each.index)
            else:
                self.running.expect_end(each)
                self.memory.share(each)
        return Completed(first, finished)

    # ---- decode

    def _decode(self) -> Pass | None:
        """Let the running batch decode, retracting requests when slots run out."""
        running, memory, before = self.running, self.memory, len(self.running.members)
        running.drop_finished()
        apart = self._set_finishing_apart()
        if not running.members:
            self.batch_is_full = False
            return None
        if memory.make_room(running.slots_needed()):
            self._ratio.decay()
        elif apart:
            self.batch_is_full = False  # what they hold is free with the next result
            return None
        else:
            self._retract()
        if len(running.members) < before:
            self.batch_is_full = False
        memory.make_room(len(running.members) * memory.page)
        memory.take(running.slots_needed())
        running.scheduled += 1
        return decode_pass(running, memory)

    def _set_finishing_apart(self) -> bool:
        """With overlap: leave out of the next decode pass whoever the outstanding result finishes."""
        if not self._rules.skips_finishing or not self._pending:
            return False
        pending = self._pending[0]
        finishing = self.running.ending_with(pending.sequences if pending.kind == "prefill" else None)
        if finishing:
            self.running.set_apart(finishing)
        return bool(finishing)

    def _retract(self) -> None:
        """Make the next decode pass fit."""
        self._send_back(retract(self.running, self.memory))
        self._ratio.set(ratio_after(self.running))

    def _send_back(self, sequences: list[Sequence]) -> None:
        """Who was retracted or preempted goes to the end of the queue."""
        for each in sequences:
            each.retracted = True
            self.num_retractions[each.index] += 1
            self._enter(each)

    # ---- results and state

    def _finish(self, sequence: Sequence) -> None:
        self.memory.release(sequence, self.running.resident(sequence))
        self.running.finish(sequence)

    def _max_new(self, index: int) -> int:
        prompt, output, page = self.prompt_tokens[index], self._output_tokens[index], self.memory.page
        kv_tokens = None if self._config.kv_tokens is None else self.memory.capacity
        return self._rules.max_new_tokens(prompt, output, kv_tokens, page, self._config.context_tokens)

    def _enter(self, sequence: Sequence) -> None:
        self._queue.append(sequence)
        sequence.entered = self._entries = self._entries + 1

    def _idles(self) -> bool:
        """Whether a pass that runs nothing counts as idle: with overlap only the second in a row does."""
        first = self._config.overlap and self._last is not None
        return not first and (self._rules.resets_ratio_with_queue or not (self._queue or self.running.members))

    def check_integrity(self) -> None:
        """Raise InvariantError unless slots, cache and running batch agree with each other. O(all of it)."""
        self.running.check_integrity()
        inside = {each for each in (self._chunked, *self.running.members) if each and not each.finished}
        for batch in (*self._pending, self._last):
            if batch is not None:
                inside.update(each for each in batch.sequences if not each.finished and not each.retracted)
        self.memory.check_integrity((each, self.running.resident(each)) for each in inside)

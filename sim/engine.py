"""The SGLang scheduler, apart from the clock: requests in, one scheduling pass out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sim.admission import Admission, Verdict
from sim.engine_rules import rules_of
from sim.errors import InvariantError
from sim.kv_cache import Node, RadixCache
from sim.kv_pool import KvPool
from sim.new_token_ratio import NewTokenRatio
from sim.requests import RequestTable
from sim.running import RunningBatch
from sim.schedule_policy import waiting_order
from sim.sequences import Sequence
from sim.token_text import text_of

__all__ = ["Completed", "Engine", "EngineConfig", "Pass"]

#: After a retraction the evicted room is for this many decode passes.
RETRACT_STEPS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """The server settings that change decisions; names and defaults as in a scenario's `backend:` block.

    Attributes
    ----------
    engine : whose rules, a key of `sim.engine_rules.RULES`.
    overlap : results are processed one pass late, as the server does by default.
    kv_tokens : capacity of the KV cache; None = unbounded.
    page_tokens : allocation unit of the KV cache.
    eviction : lru, fifo, mru, filo, lfu or priority.
    chunked_prefill_tokens : longest prefill of one pass; None = no chunking.
    max_prefill_tokens : input tokens admitted into one pass.
    max_running_requests : None = no limit.
    schedule_conservativeness : scales new_token_ratio.
    schedule_policy : fcfs, lof, lpm or dfs-weight.
    context_tokens : longest prompt + output of the model; None = no limit.
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
    """What the result of a pass brought: requests with their first token, requests with their last."""

    first_tokens: list[int]
    finished: list[int]


class Engine:
    """A server's scheduler and KV cache, without a clock.

    A driver calls `enqueue` for arrivals, then `schedule` for the next pass, and `complete` when the result of a
    pass is there. Without overlap: schedule, complete, schedule, complete. With overlap the result of pass t − 1
    is processed after pass t was scheduled: schedule t, complete t − 1, schedule t + 1, complete t. `schedule`
    returning None with a result outstanding means: complete it, then ask again.

    Runs of equal decode passes can be jumped over: `horizon(batch)` says how many more repeat the pending pass
    `batch`, `advance(batch, k)` does k of them at once and returns the one then pending. `accepting` is False
    while no arrival could change the next pass.

    Attributes
    ----------
    waiting : requests in the queue. running : the running batch. cache, pool : the KV cache and its slots.
    batch_is_full : admission is closed until a request leaves.
    cached_tokens : per request, tokens found in the cache at its first admission; None before.
    num_retractions : per request.
    """

    def __init__(self, config: EngineConfig, requests: RequestTable) -> None:
        self._config, self._rules = config, rules_of(config.engine)
        page = config.page_tokens
        text = text_of(requests, page)
        eviction = None if config.kv_tokens is None else config.eviction
        self.cache = RadixCache(text, self._rules, page_tokens=page, eviction=eviction)
        self.pool = KvPool(config.kv_tokens, page, self.cache, self._rules)
        self.running = RunningBatch(page)
        self._order = waiting_order(
            config.schedule_policy,
            self.cache,
            text if page == 1 else text_of(requests),
            self._rules,
            lru=config.eviction == "lru",
            page_tokens=page,
        )
        self._ratio = NewTokenRatio(config.schedule_conservativeness)
        self._queue: deque[Sequence] = deque()
        self.batch_is_full = False
        self._idled = False
        self._chunked: Sequence | None = None
        self._last: Pass | None = None
        self._pending: deque[Pass] = deque()
        self._prompt_tokens: list[int] = requests.prompt_tokens.tolist()
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
        return tuple(each.index for each in self._queue)

    @property
    def new_token_ratio(self) -> float:
        """The share of unused output that admission reserves."""
        return self._ratio.value

    @property
    def available(self) -> int:
        """Free KV slots, tokens."""
        return self.pool.free

    @property
    def evictable(self) -> int:
        """Cached tokens nobody uses."""
        return self.cache.evictable

    @property
    def accepting(self) -> bool:
        """Whether a request that arrives now could change the next pass."""
        return not self.batch_is_full or self._chunked is not None

    def output_tokens(self, index: int) -> int:
        """Output tokens the server will produce for a request: what it asks for, capped by what can fit."""
        prompt, page = self._prompt_tokens[index], self._config.page_tokens
        length = None if self._config.context_tokens is None else self._config.context_tokens - 1
        room = []
        if self._config.kv_tokens is not None:
            length = min(length or self.pool.capacity, self.pool.capacity - 1)
            if self._rules.output_cap == "memory":
                room.append(self.pool.capacity - -(-prompt // page) * page - page - 1)
        if length is not None:
            room.append(length - prompt - 1)
        return max(1, min(self._output_tokens[index], *room)) if room else self._output_tokens[index]

    # ---- commands

    def enqueue(self, index: int) -> None:
        """A request arrives at the end of the waiting queue. It must fit the server (`Limits.refusal`)."""
        self._queue.append(Sequence(index, self._prompt_tokens[index], self.output_tokens(index), self.cache.root))

    def schedule(self) -> Pass | None:
        """The next pass; None when nothing runs (see the class). InvariantError if requests wait and none ever will."""
        batch = self.schedule_once()
        if batch is None and self._queue and not self._pending:
            batch = self.schedule_once()  # an empty pass may only have opened admission again
            if batch is None:
                head = self._queue[0]
                raise InvariantError(
                    f"No progress: {len(self._queue)} requests wait, nothing runs, and the first "
                    f"({head.prompt + head.outputs} tokens, {head.max_new} to generate) is not admitted to a KV "
                    f"cache of {self.pool.capacity} tokens with {self.pool.obtainable} obtainable."
                )
        return batch

    def schedule_once(self) -> Pass | None:
        """One turn of the scheduler's loop, also when it finds nothing to run."""
        if len(self._pending) > self._config.overlap:
            raise InvariantError(f"schedule: {len(self._pending)} results outstanding; complete the oldest first.")
        self.pool.evicted = 0
        if self._idled:
            self._ratio.reset()
        if self._chunked is not None:
            self._keep_prefix(self._chunked)
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
            if not each.running:
                self.running.see_output(each)
            self._finish(each)
            finished.append(each.index)
        return Completed([], finished)

    def horizon(self, batch: Pass) -> int:
        """How many further passes would repeat the pending decode pass `batch` with nothing else happening.

        No admission attempt, no request ending, no eviction, no retraction; only slots, outputs and the ratio move.
        """
        if batch.kind != "decode" or len(self._pending) != 1 or self._pending[0] is not batch:
            return 0
        if self.running.has_finished or (self._queue and not self.batch_is_full):
            return 0
        return self._steps_with_room(self.running.steps_to_finish - 1)

    def advance(self, batch: Pass, k: int) -> Pass:
        """`k` times (complete, schedule) at once, in the driver's order; returns the pass then pending."""
        if k > self.horizon(batch) or k < 1:
            raise InvariantError(f"advance: {k} passes, horizon {self.horizon(batch)}.")
        running, page = self.running, self._config.page_tokens
        slots = len(running.members) * k if page == 1 else sum(running.slots_needed(step) for step in range(k))
        self.pool.evicted = 0
        self.pool.take(slots)
        running.scheduled += k
        running.process(k)
        self._ratio.decay(k)
        self._pending.clear()
        self._last = self._decode_pass()
        self._pending.append(self._last)
        return self._last

    def _idles(self) -> bool:
        """Whether a pass that runs nothing counts as idle: with overlap only the second in a row does."""
        if self._config.overlap and self._last is not None:
            return False
        return self._rules.resets_ratio_with_queue or not (self._queue or self.running.members)

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
        rules, config, members = self._rules, self._config, len(self.running.members)
        if rules.opens_when_empty and not members:
            self.batch_is_full = False
        if (self.batch_is_full or not self._queue) and self._chunked is None:
            return None
        slots = None if config.max_running_requests is None else config.max_running_requests - members
        if slots is not None and slots <= 0 and (self._chunked is not None) == rules.chunk_waits_for_slot:
            self.batch_is_full = True
            return None
        self._order.arrange(self._queue)
        admission = Admission(
            rules,
            self.pool,
            self.cache,
            self.running,
            ratio=self._ratio.value,
            page_tokens=config.page_tokens,
            max_prefill_tokens=config.max_prefill_tokens,
            chunk_tokens=config.chunked_prefill_tokens,
        )
        continued = self._chunked
        if continued is not None and not admission.go_on(continued):
            self._chunked = None
        self._admit(admission, slots)
        if not admission.admitted:
            return None
        if admission.chunked is not None:
            self._chunked = admission.chunked
        for _ in range(len(admission.admitted) - (continued is not None)):
            self._queue.popleft()
        return self._prefill_pass(admission.admitted)

    def _admit(self, admission: Admission, slots: int | None) -> None:
        """Consider the waiting requests in order until one is refused."""
        page = self._config.page_tokens
        for each in self._queue:
            if self._rules.stops_when_spent and admission.state() is Verdict.STOP:
                return
            if slots is not None and len(admission.admitted) >= slots:
                self.batch_is_full = True
            if self.batch_is_full:
                return
            limit = each.prompt + each.outputs - 1
            each.node = self.cache.touch(each.index, limit - limit % page, each.node)
            each.prefix = each.node.end
            verdict = admission.consider(each)
            if verdict is Verdict.NO_TOKEN:
                busy = bool(admission.admitted) or bool(self.running.members)
                self.batch_is_full = self._rules.refusal_closes_idle or busy
            if verdict is not Verdict.CONTINUE:
                return

    def _prefill_pass(self, sequences: list[Sequence]) -> Pass:
        """Give the admitted requests their slots."""
        page, new, work, admitted = self._config.page_tokens, 0, 0.0, []
        for each in sequences:
            extend = each.extend_end - each.prefix
            new += extend
            work += extend * (each.prefix + extend / 2)
            each.retracted = False
            if not each.started:
                each.started = True
                self.cached_tokens[each.index] = each.prefix
                admitted.append(each.index)
        if page == 1:
            self.pool.make_room(new)
            self.pool.take(new)
        else:
            self.pool.make_room(new + page * len(sequences))
            self.pool.take(sum(_pages(each.extend_end, page) - _pages(each.prefix, page) for each in sequences))
        for each in sequences:
            each.resident = each.extend_end
        return Pass(
            "prefill",
            tuple([each.index for each in sequences]),
            tuple(admitted),
            new,
            0,
            work,
            self.pool.used,
            self.pool.evicted,
            sequences,
            self._chunked,
        )

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
                self._keep_prefix(each)
        return Completed(first, finished)

    # ---- decode

    def _decode(self) -> Pass | None:
        """Let the running batch decode, retracting requests when slots run out."""
        running, before = self.running, len(self.running.members)
        running.drop_finished()
        apart = self._set_finishing_apart()
        if not running.members:
            self.batch_is_full = False
            return None
        need = running.slots_needed()
        if self.pool.make_room(need):
            self._ratio.decay()
        elif apart:
            self.batch_is_full = False
            return None
        else:
            self._retract()
            need = running.slots_needed()
        if len(running.members) < before:
            self.batch_is_full = False
        self.pool.make_room(len(running.members) * self._config.page_tokens)
        self.pool.take(need)
        running.scheduled += 1
        return self._decode_pass()

    def _set_finishing_apart(self) -> bool:
        """With overlap: leave out of the next decode pass whoever the outstanding result finishes."""
        if not self._rules.skips_finishing or not self._pending:
            return False
        pending = self._pending[0]
        finishing = self.running.ending_with(pending.sequences if pending.kind == "prefill" else None)
        if finishing:
            self.running.set_apart(finishing)
        return bool(finishing)

    def _decode_pass(self) -> Pass:
        running = self.running
        return Pass(
            "decode",
            running.indices,
            (),
            len(running.members),
            running.context_tokens,
            0.0,
            self.pool.used,
            self.pool.evicted,
            running.members,
            None,
        )

    def _retract(self) -> None:
        """Send requests back until the next decode pass fits: fewest outputs first, longest prompt first."""
        running, page = self.running, self._config.page_tokens
        kept = sorted(running.members, key=lambda each: (running.outputs(each), -each.prompt), reverse=True)
        retracted: list[Sequence] = []
        while len(kept) > 1 and (not retracted or not self._fits(kept)):
            victim = kept.pop()
            retracted.append(victim)
            self.pool.free += _pages(running.resident(victim), page) - victim.protected
            self.cache.unlock(victim.locked)
            self.pool.make_room(len(kept) * RETRACT_STEPS)
        if not self._fits(kept):
            raise InvariantError(f"KV pool: request {kept[0].index} does not fit alone; the server would stop here.")
        running.retract(kept, retracted)
        outputs = sum(running.outputs(each) for each in kept)
        self._ratio.set((outputs + RETRACT_STEPS * len(kept)) / (sum(each.max_new for each in kept) + 1))
        for each in retracted:
            each.resident = each.protected = each.inserted = 0
            each.retracted = True
            self.num_retractions[each.index] += 1
            self._queue.append(each)

    def _fits(self, kept: list[Sequence]) -> bool:
        """Whether the next decode pass of `kept` finds its slots, after eviction."""
        page = self._config.page_tokens
        return self.pool.make_room(sum(page for each in kept if self.running.resident(each) % page == 0))

    def _steps_with_room(self, steps: int) -> int:
        """How many of the next `steps` decode passes find their slots without eviction."""
        page, size, free = self._config.page_tokens, len(self.running.members), self.pool.free
        if page == 1:
            return min(steps, free // size)
        done, per_cycle = 0, size * page
        if free >= 2 * per_cycle:  # whole cycles of `page` passes take one page a member
            done = min(steps // page, (free - per_cycle) // per_cycle) * page
            free -= done * size
        while done < steps and free >= per_cycle:
            free -= self.running.slots_needed(done)
            done += 1
        return done

    # ---- the cache

    def _keep_prefix(self, sequence: Sequence) -> None:
        """What the request has prefilled becomes shared: insert it, give duplicates back, hold it by a lock."""
        tokens, node = self._insert(sequence, sequence.extend_end)
        self.cache.move_lock(sequence.locked, node)
        sequence.locked, sequence.protected = node, tokens

    def _finish(self, sequence: Sequence) -> None:
        """The request has its last token: insert all it computed and let go of it."""
        resident = self.running.resident(sequence)
        tokens, _ = self._insert(sequence, resident)
        self.pool.free += _pages(resident, self._config.page_tokens) - tokens
        self.cache.unlock(sequence.locked)
        self.running.finish(sequence)
        sequence.node = sequence.locked = self.cache.root

    def _insert(self, sequence: Sequence, tokens: int) -> tuple[int, Node]:
        """Insert the whole pages of the first `tokens` tokens; duplicates of what was there are freed."""
        page = self._config.page_tokens
        tokens -= tokens % page
        matched, node = self.cache.insert(sequence.index, tokens, sequence.node, counted=sequence.inserted)
        self.pool.free += matched - sequence.protected
        sequence.node, sequence.inserted = node, max(sequence.inserted, tokens)
        prompt = sequence.prompt - sequence.prompt % page
        if self._rules.prompt_boundary and 0 < prompt < tokens:
            self.cache.insert(sequence.index, prompt, node, priority=1, counted=prompt)
        return tokens, node

    def check_integrity(self) -> None:
        """Raise InvariantError unless cache, running batch and slots agree with each other. O(all of it)."""
        self.cache.check_integrity()
        self.running.check_integrity()


def _pages(tokens: int, page: int) -> int:
    """Tokens rounded up to whole pages."""
    return -(-tokens // page) * page

"""The running batch: everything that decodes together, kept so that a decode pass costs nothing per request.

All running requests gain one KV slot when a decode pass is scheduled and one output when its result is processed.
So both are counted once for the whole batch (`scheduled`, `processed`), and a running `Sequence` holds its numbers
relative to these counters.
"""

from __future__ import annotations

import heapq

from sim.engine_rules import CLIPPED_NEW_TOKENS
from sim.errors import InvariantError
from sim.sequences import Sequence

__all__ = ["RunningBatch"]


class RunningBatch:
    """Requests past their prefill, in batch order.

    Attributes
    ----------
    members : batch order; may still hold requests that finished since the last `drop_finished`.
    scheduled, processed : decode passes scheduled, and those whose results are in, since the engine began.
    """

    def __init__(self, page_tokens: int) -> None:
        self.members: list[Sequence] = []
        self.scheduled = self.processed = 0
        self._page = page_tokens
        self._indices: tuple[int, ...] | None = ()
        self._live = self._stale = self._joined = 0
        self._resident = self._remaining = self._long = 0
        self._by_phase = [0] * page_tokens
        self._ending: dict[int, list[Sequence]] = {}
        self._ends: list[int] = []

    # ---- queries

    @property
    def indices(self) -> tuple[int, ...]:
        """Request indices in batch order."""
        if self._indices is None:
            self._indices = tuple([each.index for each in self.members])
        return self._indices

    @property
    def has_finished(self) -> bool:
        """Whether `members` holds requests that are done."""
        return self._stale > 0

    @property
    def context_tokens(self) -> int:
        """Σ of the members' KV slots; exact once `drop_finished` has run."""
        return self._resident + self._live * self.scheduled

    @property
    def steps_to_finish(self) -> int:
        """Decode results until the next request ends, at least 1."""
        while self._ends[0] not in self._ending:
            heapq.heappop(self._ends)
        return self._ends[0] - self.processed

    def outputs(self, sequence: Sequence) -> int:
        """Outputs the engine has seen of a sequence, running or not."""
        return sequence.outputs + (self.processed if sequence.running else 0)

    def resident(self, sequence: Sequence) -> int:
        """KV slots of a sequence, running or not."""
        return sequence.resident + (self.scheduled if sequence.running else 0)

    def slots_needed(self, passes: int = 1) -> int:
        """Slots the next `passes` decode passes take: a page for every member whenever its pages are full."""
        page = self._page
        cycles, rest = divmod(passes, page)
        pages = cycles * self._live
        for ahead in range(rest):
            pages += self._by_phase[-(self.scheduled + ahead) % page]
        return pages * page

    def passes_within(self, free: int, passes: int) -> int:
        """How many of the next `passes` decode passes find a whole page free for every member."""
        page, room = self._page, self._live * self._page
        if page == 1:
            return min(passes, free // room)
        # as many whole cycles (a page a member, whatever the phases) as surely fit, then one by one
        done = min(passes // page, max(0, free // room - 1)) * page
        free -= done * self._live
        while done < passes and free >= room:
            free -= self._by_phase[-(self.scheduled + done) % page] * page
            done += 1
        return done

    def reserved(self, ratio: float) -> float:
        """Σ over members of min(max_new − outputs, 4096)·ratio, up to rounding; O(1) unless outputs are very long."""
        if self._long:
            return self.reserved_exactly(ratio)
        return (self._remaining - self._live * self.processed) * ratio

    def reserved_exactly(self, ratio: float) -> float:
        """The same, added up one float at a time in batch order, as the server adds it. O(members)."""
        total = 0.0
        for each in self.members:
            total += self.reserved_for(each, ratio)
        return total

    def reserved_for(self, sequence: Sequence, ratio: float) -> float:
        """One member's share of it."""
        return min(sequence.max_new - self.outputs(sequence), CLIPPED_NEW_TOKENS) * ratio

    # ---- commands

    def join(self, sequences: list[Sequence]) -> None:
        """Requests whose prefill has been scheduled begin to decode."""
        for each in sequences:
            each.running, each.rank = True, self._joined
            self._joined += 1
            self._count(each, 1)
            each.resident -= self.scheduled
            each.outputs -= self.processed
        self.members = self.members + sequences
        self._indices = None

    def leave(self, sequence: Sequence) -> None:
        """A request stops decoding; it stays in `members` until they are filtered."""
        sequence.resident += self.scheduled
        sequence.outputs += self.processed
        self._count(sequence, -1)
        sequence.running = False

    def see_output(self, sequence: Sequence) -> None:
        """A result brought `sequence`, and not the whole batch, an output."""
        sequence.outputs += 1
        if sequence.running:
            self._remaining -= 1

    def expect_end(self, sequence: Sequence) -> None:
        """`sequence` has had its prefill result and ends after the decode results still to come."""
        end = self.processed + sequence.max_new - self.outputs(sequence)
        if end in self._ending:
            self._ending[end].append(sequence)
        else:
            self._ending[end] = [sequence]
            heapq.heappush(self._ends, end)

    def process(self, passes: int = 1) -> list[Sequence]:
        """Results of decode passes are in: one output each for all; returns who ends, in batch order."""
        self.processed += passes
        ended = self._ending.pop(self.processed, None)
        if ended is None:
            return []
        ended.sort(key=lambda each: each.rank)
        return ended

    def finish(self, sequence: Sequence) -> None:
        """`sequence` has its last output."""
        sequence.finished = True
        if sequence.running:
            self.leave(sequence)
            self._stale += 1

    def drop_finished(self) -> bool:
        """Filter finished requests out of `members`; whether there were any."""
        if not self._stale:
            return False
        self._keep([each for each in self.members if not each.finished])
        self._stale = 0
        return True

    def ending_with(self, pending: list[Sequence] | None) -> list[Sequence]:
        """Members whose last output is in the pending result (of a prefill of `pending`, or of a decode pass)."""
        if pending is None:
            return self._ending.get(self.processed + 1, [])
        return [each for each in pending if each.running and self.outputs(each) + 1 >= each.max_new]

    def set_apart(self, sequences: list[Sequence]) -> None:
        """Leave `sequences` out of what follows; their pending last output still comes."""
        for each in sequences:
            self.leave(each)
        self._keep([each for each in self.members if each.running or each.finished])

    def withdraw(self, sequence: Sequence) -> None:
        """`sequence` is sent back to the queue; it stays in `members` until they are put in order."""
        end = self.processed + sequence.max_new - self.outputs(sequence)
        ending = self._ending.get(end, [])
        if sequence in ending:
            ending.remove(sequence)
            if not ending:
                del self._ending[end]
        self.leave(sequence)

    def reorder(self, members: list[Sequence]) -> None:
        """The batch goes on with `members`, in this order."""
        for each in members:
            each.rank = self._joined
            self._joined += 1
        self._keep(members)

    def _keep(self, members: list[Sequence]) -> None:
        self.members, self._indices = members, None

    def _count(self, sequence: Sequence, sign: int) -> None:
        """Add or remove a sequence's absolute numbers to or from the sums."""
        self._live += sign
        self._resident += sign * (sequence.resident - self.scheduled)
        self._remaining += sign * (sequence.max_new - sequence.outputs + self.processed)
        self._long += sign * (sequence.max_new > CLIPPED_NEW_TOKENS)
        self._by_phase[(sequence.resident - self.scheduled) % self._page] += sign

    # ---- invariants

    def check_integrity(self) -> None:
        """Raise InvariantError unless the sums are those of the members."""
        live = [each for each in self.members if not each.finished]
        context = sum(self.resident(each) for each in live)
        remaining = sum(each.max_new - self.outputs(each) for each in live)
        if context != self.context_tokens or remaining != self._remaining - self._live * self.processed:
            raise InvariantError(f"running batch: {len(live)} members hold {context} slots, not {self.context_tokens}.")
        phases = [0] * self._page
        for each in live:
            phases[each.resident % self._page] += 1
        if phases != self._by_phase or len(live) != self._live or len(self.members) - len(live) != self._stale:
            raise InvariantError("running batch: page phases or member counts are off.")

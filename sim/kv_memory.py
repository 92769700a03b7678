"""KV slots: who holds them, and the cache that gives some back when they run out.

Slots are counted in tokens and handed out in pages. A request holds the slots of its tokens beyond `protected`
itself; the ones before are the cache's, held through a lock. Every slot is free, in the cache, or a request's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from sim.engine_config import EngineConfig
from sim.engine_rules import EngineRules
from sim.errors import InvariantError
from sim.kv_cache import Node, RadixCache
from sim.sequences import Sequence
from sim.token_text import Text

__all__ = ["UNBOUNDED", "KvMemory", "pages"]

#: Slots of a memory that never fills; far above any run, far below what a double stops counting exactly.
UNBOUNDED = 1 << 50


class KvMemory:
    """The slots, the cache, and what requests do to both.

    Attributes
    ----------
    capacity : all slots, whole pages. free : those nobody holds.
    evicted : tokens evicted since someone last set it to 0.
    cache : the radix cache. page : tokens per page.
    """

    def __init__(self, config: EngineConfig, rules: EngineRules, text: Text) -> None:
        tokens = UNBOUNDED if config.kv_tokens is None else config.kv_tokens
        eviction = None if config.kv_tokens is None else config.eviction
        self.page, self.evicted = config.page_tokens, 0
        self.capacity = self.free = tokens - tokens % self.page
        self.cache = RadixCache(text, rules, page_tokens=self.page, eviction=eviction)
        self._whole_need, self._prompt_boundary = rules.evict == "need", rules.prompt_boundary

    # ---- queries

    @property
    def obtainable(self) -> int:
        """Free slots and those that eviction could free."""
        return self.free + self.cache.evictable

    @property
    def used(self) -> int:
        """Slots held by requests or by the cache."""
        return self.capacity - self.free

    # ---- slots

    def make_room(self, tokens: int) -> bool:
        """Evict if fewer than `tokens` slots are free; whether there are that many now."""
        if self.free < tokens:
            freed = self.cache.evict(tokens if self._whole_need else tokens - self.free)
            self.free += freed
            self.evicted += freed
        return self.free >= tokens

    def take(self, tokens: int) -> None:
        """Hand out slots for which room was made."""
        self.free -= tokens
        if self.free < 0:
            raise InvariantError(f"KV memory: {tokens} slots wanted, {self.free + tokens} free after eviction.")

    # ---- requests

    def match(self, sequence: Sequence) -> None:
        """Look up what a request may reuse: all but its last token, whole pages. Refreshes and may split."""
        sequence.sought = sequence.prompt + sequence.outputs
        limit = sequence.sought - 1
        sequence.node = node = self.cache.touch(sequence.index, limit - limit % self.page, sequence.node)
        sequence.prefix = node.end

    def match_whole(self, sequence: Sequence) -> None:
        """Look up all of a waiting request's tokens, also those it may not reuse. Refreshes and may split."""
        length = sequence.prompt + sequence.outputs
        sequence.node = self.cache.touch(sequence.index, length - length % self.page, sequence.node)

    def prefill(self, sequences: list[Sequence], new_tokens: int) -> None:
        """Slots for tokens [prefix, extend_end) of each request, evicting as the server does."""
        page = self.page
        if page == 1:
            self.make_room(new_tokens)
            self.take(new_tokens)
        else:
            self.make_room(new_tokens + page * len(sequences))
            self.take(sum(pages(each.extend_end, page) - pages(each.prefix, page) for each in sequences))
        for each in sequences:
            each.resident = each.extend_end

    def share(self, sequence: Sequence) -> None:
        """Put what a request has prefilled into the cache and hold it there by the lock."""
        tokens, node = self._insert(sequence, sequence.extend_end)
        self.cache.move_lock(sequence.locked, node)
        sequence.locked, sequence.protected = node, tokens

    def release(self, sequence: Sequence, resident: int) -> None:
        """A finished request: put all its `resident` tokens into the cache and let go of them."""
        tokens, _ = self._insert(sequence, resident)
        self.free += pages(resident, self.page) - tokens
        self.cache.unlock(sequence.locked)
        sequence.node = sequence.locked = self.cache.root

    def discard(self, sequence: Sequence, resident: int) -> None:
        """A request that is sent back: free its own slots at once, let go of the cached ones."""
        self.free += pages(resident, self.page) - sequence.protected
        self.cache.unlock(sequence.locked)
        sequence.locked = self.cache.root
        sequence.resident = sequence.prefix = sequence.protected = sequence.inserted = 0

    def _insert(self, sequence: Sequence, tokens: int) -> tuple[int, Node]:
        """Insert the whole pages of the first `tokens` tokens; a request's duplicates of cached ones are freed."""
        tokens -= tokens % self.page
        cache, index = self.cache, sequence.index
        priority, inserted = sequence.priority, sequence.inserted
        matched, node = cache.insert(index, tokens, sequence.node, priority=priority, counted=inserted)
        self.free += matched - sequence.protected
        sequence.node, sequence.inserted = node, max(inserted, tokens)
        if self._prompt_boundary:
            prompt = sequence.prompt - sequence.prompt % self.page
            if 0 < prompt < tokens:
                cache.insert(index, prompt, node, priority=priority + 1, counted=prompt)
        return tokens, node

    # ---- invariants

    def check_integrity(self, holders: Iterable[tuple[Sequence, int]]) -> None:
        """Raise InvariantError unless free, cached and own slots of the `holders` (request, resident) are all."""
        self.cache.check_integrity()
        own = sum(pages(resident, self.page) - sequence.protected for sequence, resident in holders)
        if self.free < 0 or self.free + self.cache.resident + own != self.capacity:
            raise InvariantError(
                f"KV memory: {self.free} free + {self.cache.resident} cached + {own} own ≠ {self.capacity} slots."
            )


def pages(tokens: int, page: int) -> int:
    """Tokens rounded up to whole pages."""
    return -(-tokens // page) * page

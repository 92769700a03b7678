"""KV slots: how many are free, and the cache that gives some back when they run out."""

from __future__ import annotations

from sim.engine_rules import EngineRules
from sim.errors import InvariantError
from sim.kv_cache import RadixCache

__all__ = ["UNBOUNDED", "KvPool"]

#: Slots of a pool that never fills; far above any run, far below what a double counts exactly.
UNBOUNDED = 1 << 50


class KvPool:
    """Slots in tokens, handed out in pages.

    Attributes
    ----------
    capacity : all slots, whole pages. free : those nobody holds.
    evicted : tokens evicted since the engine last set it to 0.
    """

    def __init__(self, kv_tokens: int | None, page_tokens: int, cache: RadixCache, rules: EngineRules) -> None:
        tokens = UNBOUNDED if kv_tokens is None else kv_tokens
        self.capacity = self.free = tokens - tokens % page_tokens
        self.evicted = 0
        self._cache, self._whole_need = cache, rules.evict == "need"

    @property
    def obtainable(self) -> int:
        """Free slots and those that eviction could free."""
        return self.free + self._cache.evictable

    @property
    def used(self) -> int:
        """Slots held by requests or by the cache."""
        return self.capacity - self.free

    def make_room(self, tokens: int) -> bool:
        """Evict if fewer than `tokens` slots are free; whether there are that many now."""
        if self.free < tokens:
            freed = self._cache.evict(tokens if self._whole_need else tokens - self.free)
            self.free += freed
            self.evicted += freed
        return self.free >= tokens

    def take(self, tokens: int) -> None:
        """Hand out slots for which room was made."""
        self.free -= tokens
        if self.free < 0:
            raise InvariantError(f"KV pool: {tokens} slots wanted, {self.free + tokens} free after eviction.")

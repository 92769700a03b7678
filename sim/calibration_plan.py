"""Which measurements tell the coefficients apart: grids of prompts, prefixes, batches and contexts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.backend import Limits
from sim.errors import BackendError
from sim.measuring import ProbeTable

__all__ = ["Room", "mixed_table", "round_table", "warm_up_table"]

#: No prompt is longer, and no batch's prompts together, whatever the server could hold: a round must end.
LONGEST_TOKENS = 24_576
#: Decode steps measured at a time; the mean of so many is what a client can time well.
STEPS = 32
LARGEST_BATCH = 64

#: Short requests of a closed loop whose answers tell how those of one pass follow each other.
LOOP_IN_FLIGHT, LOOP_REQUESTS = 4, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a server leaves room for.

    Attributes
    ----------
    prompt_tokens : the longest prompt measured.
    batch_tokens : Σ of the prompts and outputs of a decode batch.
    batch_size : requests of a decode batch.
    page_tokens, chunk_tokens : the server's page and chunk.
    """

    prompt_tokens: int
    batch_tokens: int
    batch_size: int
    page_tokens: int
    chunk_tokens: int | None

    @classmethod
    def of(cls, limits: Limits, chunk_tokens: int | None, max_running_requests: int | None) -> Room:
        """Half of the cache for a batch, most of it for one prompt; BackendError where that is nothing."""
        capacity, context = limits.kv_tokens or 4 * LONGEST_TOKENS, limits.context_tokens or LONGEST_TOKENS
        prompt = min(LONGEST_TOKENS, context - 2, int(0.7 * capacity))
        if prompt < 64:
            raise BackendError(f"The server has room for prompts of {prompt} tokens only: nothing can be measured.")
        return cls(
            prompt_tokens=prompt,
            batch_tokens=min(2 * LONGEST_TOKENS, capacity // 2),
            batch_size=min(LARGEST_BATCH, max_running_requests or LARGEST_BATCH),
            page_tokens=limits.page_tokens,
            chunk_tokens=chunk_tokens,
        )

    def lengths(self, least: int, most: int, count: int) -> list[int]:
        """Up to `count` different lengths from least to most, evenly spaced in ratio."""
        return sorted({round(length) for length in np.geomspace(least, max(least, most), count).tolist()})

    def paged(self, tokens: int) -> int:
        """Whole pages, at least one."""
        return max(self.page_tokens, tokens - tokens % self.page_tokens)


def warm_up_table() -> ProbeTable:
    """A few small requests: the first answers of a server are slower than all others."""
    table = ProbeTable()
    for _ in range(3):
        table.add("warm-up", "", [(None, 32, 4)])
    return table


def round_table(room: Room, rng: np.random.Generator) -> ProbeTable:
    """Every grid point once, in random order: a server that slowly changes must not look like a coefficient."""
    table, plans = ProbeTable(), []
    plans += [("prefill", tokens, 0) for tokens in _prompt_lengths(room)]
    plans += [("prefix", prefix, 0) for prefix in _prefix_lengths(room)]
    plans += [("decode", size, context) for size, context in _batches(room)]
    plans += [("loop", LOOP_IN_FLIGHT, LOOP_REQUESTS)]
    for place in rng.permutation(len(plans)).tolist():
        kind, first, second = plans[place]
        if kind == "prefill":
            table.add("prefill", f"{first} new", [(None, first, 1)])
        elif kind == "prefix":
            _behind_prefix(table, room, first)
        elif kind == "loop":  # several answers of one pass, each on a connection of its own: how do they follow?
            table.add("mixed", "front end", [(None, 16, 1)] * second, in_flight=min(first, room.batch_size))
        else:
            table.add("decode", f"{first} × {second}", [(None, second, STEPS + 1)] * first)
    return table


def mixed_table(room: Room, rng: np.random.Generator) -> ProbeTable:
    """Closed loops of requests of all lengths: what no grid point shows, for the fitted model to predict."""
    table = ProbeTable()
    longest = max(32, min(room.prompt_tokens // 4, room.batch_tokens // 8, 4096))
    for in_flight in (2, 4):
        prompts: list[tuple[str | None, int, int]] = [
            (None, round(float(np.exp(rng.uniform(np.log(16), np.log(longest))))), int(rng.integers(2, 24)))
            for _ in range(16)
        ]
        table.add("mixed", f"{in_flight} in flight", prompts, in_flight=min(in_flight, room.batch_size))
    return table


def _prompt_lengths(room: Room) -> list[int]:
    lengths = room.lengths(16, room.prompt_tokens, 9)
    chunk = room.chunk_tokens
    if chunk is not None:  # passes are told apart from requests by prompts of one full pass, and of several
        lengths += [passes * chunk for passes in (1, 2, 3) if passes * chunk <= room.prompt_tokens]
    return sorted(set(lengths))


def _prefix_lengths(room: Room) -> list[int]:
    return sorted({room.paged(tokens) for tokens in room.lengths(64, int(0.8 * room.prompt_tokens), 4)})


def _behind_prefix(table: ProbeTable, room: Room, prefix: int) -> None:
    """The prefix alone, then prompts behind it while it is in the cache."""
    name = f"{prefix}"
    table.prefix(name, prefix)
    table.add("prefill", f"{prefix} new", [(name, 0, 1)])
    for tokens in room.lengths(16, max(16, (room.prompt_tokens - prefix) // 2), 3):
        table.add("prefill", f"{tokens} new behind {prefix}", [(name, tokens, 1)])


def _batches(room: Room) -> list[tuple[int, int]]:
    sizes = room.lengths(1, room.batch_size, 6)
    contexts = room.lengths(32, min(room.prompt_tokens - STEPS, room.batch_tokens // 2), 4)
    return [(b, tokens) for b in sizes for tokens in contexts if b * (tokens + STEPS + 1) <= room.batch_tokens]

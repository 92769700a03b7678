"""Chains: agent trajectories whose every turn repeats all earlier ones (SWE-agent in the paper, §5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from mechanism.prompts import IntArray
from sim.quantities import Count, LengthTokensOrZero, NumRequests
from sim.requests import Demand
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._sharing import (
    CHAIN_EXPONENTS,
    Length,
    check_lengths,
    copy_prefixes,
    draw_lengths,
    private_prompts,
    write_accidental_tokens,
)

__all__ = ["Chains"]


@dataclass(frozen=True, kw_only=True)
class Chains:
    """Conversations that grow: turn t is asked behind the system prompt, the issue and turns 0 … t.

    The system prompt is common to all chains, the issue to the turns of one. Chains are interleaved at random; each
    keeps the order of its turns. The last chain ends where `num_requests` is reached.

    Attributes
    ----------
    num_requests : number of requests, one a turn.
    output_tokens : tokens each generates, or a distribution.
    turns : mean number of turns of a chain.
    turns_spread : turns are uniform within this fraction around the mean, 0 to 1.
    system_tokens : tokens every chain starts with.
    issue_tokens : tokens of a chain's task; a number or [low, high].
    turn_tokens : tokens each turn adds; a number or [low, high].
    accidental_sharing : whether issues begin alike by accident, as real text does.
    """

    num_requests: NumRequests = 1024
    output_tokens: OutputTokens = 1
    turns: Count = 10
    turns_spread: Annotated[float, Field(ge=0, le=1)] = 0.5
    system_tokens: LengthTokensOrZero = 1200
    issue_tokens: Length = 200
    turn_tokens: Length = 270
    accidental_sharing: bool = True

    def __post_init__(self) -> None:
        check_lengths(issue_tokens=self.issue_tokens, turn_tokens=self.turn_tokens)

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(tokens)."""
        n, lengths = self.num_requests, rng_stream("workload-lengths")
        added = draw_lengths(self.turn_tokens, n, lengths)
        issue = draw_lengths(self.issue_tokens, n, lengths)
        cluster = rng_stream("workload-order").permutation(self._chain_of_each(n, rng_stream("workload-turns")))
        turn, previous = _turns(cluster)

        first = np.flatnonzero(turn == 0)
        num_tokens = self.system_tokens + issue[cluster] + _running_sum(added, cluster)
        prompts = private_prompts(num_tokens)
        if self.accidental_sharing:
            offsets = np.full(len(first), self.system_tokens)
            write_accidental_tokens(prompts, first, offsets, CHAIN_EXPONENTS, rng_stream("workload-accidental"))
        # request 0 opens a chain and lends its system prompt; every turn comes after the one it repeats
        copy_prefixes(prompts, ((row, 0, self.system_tokens) for row in first.tolist()))
        later = np.flatnonzero(turn > 0)
        earlier = previous[later]
        copy_prefixes(prompts, zip(later.tolist(), earlier.tolist(), num_tokens[earlier].tolist(), strict=True))
        return Demand(
            prompts=prompts,
            output_tokens=draw_output_tokens(self.output_tokens, n, rng_stream("workload-outputs")),
            cluster=cluster,
            session=tuple(f"chain-{c}" for c in cluster.tolist()),
            turn=turn,
        )

    def _chain_of_each(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n,) chain numbers, chain after chain."""
        spread = round(self.turns * self.turns_spread)
        turns = rng.integers(max(1, self.turns - spread), self.turns + spread, size=n, endpoint=True)
        chains: IntArray = np.searchsorted(np.cumsum(turns), np.arange(n), side="right")
        return chains


def _turns(cluster: IntArray) -> tuple[IntArray, IntArray]:
    """Each request's turn number, and the request of its chain's turn before it (itself at turn 0)."""
    by_chain = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[by_chain], prepend=-1))
    turn, previous = np.empty_like(by_chain), np.arange(len(cluster))
    turn[by_chain] = np.arange(len(cluster)) - np.repeat(starts, np.diff(starts, append=len(cluster)))
    continued = np.flatnonzero(turn[by_chain] > 0)
    previous[by_chain[continued]] = by_chain[continued - 1]
    return turn, previous


def _running_sum(added: IntArray, cluster: IntArray) -> IntArray:
    """(n,) sums of `added` over a request's chain, from its first turn to its own."""
    by_chain = np.argsort(cluster, kind="stable")
    sums = np.cumsum(added[by_chain])
    starts = np.flatnonzero(np.diff(cluster[by_chain], prepend=-1))
    before = (sums - added[by_chain])[starts]
    out = np.empty_like(sums)
    out[by_chain] = sums - np.repeat(before, np.diff(starts, append=len(cluster)))
    return out

"""What a trace is like, in numbers: span, rate, lengths, sharing, what fits, and what to beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from sim.arrival_rate import ArrivalRate, arrival_rate
from sim.clock import NS_PER_S
from sim.errors import ScenarioError
from sim.prefix_sharing import shared_tokens
from sim.requests import Demand

__all__ = ["KV_TOKENS", "Description", "Lengths", "describe"]

#: A KV capacity to compare prompts with where none is named: the paper's.
KV_TOKENS = 23000
#: Where curves are sampled: 0, 1, …, 100 %.
PERCENTS = np.arange(101)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """A distribution over requests. `curve` holds the percentiles 0, 1, …, 100, linear (numpy)."""

    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    total: float
    curve: tuple[float, ...]

    @classmethod
    def of(cls, values: IntArray | FloatArray) -> Lengths:
        """The distribution of at least one value."""
        curve = np.percentile(values, PERCENTS)
        p50, p90, p95, p99 = (float(curve[p]) for p in (50, 90, 95, 99))
        return cls(
            mean=float(values.mean()),
            p50=p50,
            p90=p90,
            p95=p95,
            p99=p99,
            max=float(values.max()),
            total=float(values.sum()),
            curve=tuple(curve.tolist()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What `describe` found.

    Attributes
    ----------
    source, kind : the file and its format.
    num_requests : after the drops.
    dropped : reason → records left out.
    arrivals : span, rate and ties of the recorded arrivals; None = there are none.
    prompt_tokens, output_tokens : per request.
    prefix_hit_rate : tokens that a prompt shares with any earlier prompt, at most its length − 1, over all tokens.
    shared_share : the same per request.
    answers_recorded : the answers' tokens are known; a server's cache holds them too, and `prefix_hit_rate` does not.
    recorded_hit_rate : what the recording server had cached, over the prompt tokens it said so of; None = not said.
    kv_tokens : a KV capacity to compare with.
    num_above_kv, share_above_kv : prompts longer than that.
    num_sessions, turns : sessions, and requests per session; None = the trace names none.
    facts : what the workload measured of itself.
    warnings : what to beware of.
    """

    source: str
    kind: str
    num_requests: int
    dropped: Mapping[str, int]
    arrivals: ArrivalRate | None
    prompt_tokens: Lengths
    output_tokens: Lengths
    prefix_hit_rate: float
    shared_share: Lengths
    answers_recorded: bool
    recorded_hit_rate: float | None
    kv_tokens: int
    num_above_kv: int
    share_above_kv: float
    num_sessions: int | None
    turns: Lengths | None
    facts: Mapping[str, float]
    warnings: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Plain containers; null where nothing was recorded."""
        return asdict(self)


def describe(demand: Demand, *, source: str, kind: str, kv_tokens: int = KV_TOKENS) -> Description:
    """Measure the requests of a workload; O(symbols shared · log n) for the sharing, O(n log n) for the rest.

    Parameters
    ----------
    demand : the requests, by (arrival, file order): "earlier" is meant in that order.
    source, kind : for the title.
    kv_tokens : capacity that prompts are compared with.

    Raises
    ------
    ScenarioError
        No requests.
    """
    n, dropped = len(demand.prompts), dict(demand.dropped)
    if n == 0:
        raise ScenarioError(source, f"no requests{f' ({dropped})' if dropped else ''}", "at least one request")
    tokens, shared = demand.prompts.num_tokens, shared_tokens(demand.prompts)
    above = tokens > kv_tokens
    arrivals = None if demand.arrival_ns is None else arrival_rate(demand.arrival_ns / NS_PER_S)
    turns = None if demand.session is None else np.bincount(demand.cluster)
    together = _starts_together(demand)
    warnings = [*demand.warnings, *(arrivals.warnings(ties=not together) if arrivals else ())]
    if together:
        warnings.append(
            f"every recording starts its clock at 0: {together:,} sessions begin at once; give them starts of their own"
            " with session_rate, or serve them as clients that wait with arrivals: {kind: sessions}"
        )
    warnings += [*_about_limit(demand), *_about_drops(n, dropped)]
    if above.any():
        warnings.append(f"{above.sum():,} of {n:,} prompts are longer than {kv_tokens:,} tokens of KV cache")
    return Description(
        source=source,
        kind=kind,
        num_requests=n,
        dropped=dropped,
        arrivals=arrivals,
        prompt_tokens=Lengths.of(tokens),
        output_tokens=Lengths.of(demand.output_tokens),
        prefix_hit_rate=float(shared.sum() / tokens.sum()),
        shared_share=Lengths.of(shared / tokens),
        answers_recorded=demand.output_ids is not None,
        recorded_hit_rate=_recorded_hit_rate(demand.cached_tokens, tokens),
        kv_tokens=kv_tokens,
        num_above_kv=int(above.sum()),
        share_above_kv=float(above.mean()),
        num_sessions=None if turns is None else len(turns),
        turns=None if turns is None else Lengths.of(turns),
        facts=dict(demand.facts),
        warnings=tuple(warnings),
    )


def _recorded_hit_rate(cached: FloatArray | None, tokens: IntArray) -> float | None:
    if cached is None:
        return None
    said = ~np.isnan(cached)
    return float(cached[said].sum() / tokens[said].sum()) if said.any() else None


def _starts_together(demand: Demand) -> int:
    """How many sessions start at one instant, where that is most of several: the traces were recorded one by one."""
    if demand.session is None or demand.turn is None or demand.arrival_ns is None:
        return 0
    starts = demand.arrival_ns[demand.turn == 0]
    at_once = int((starts == starts.min()).sum())
    return at_once if len(starts) > 1 and 2 * at_once >= len(starts) else 0


def _about_limit(demand: Demand) -> list[str]:
    if demand.refused is None:
        return []
    return [
        f"{demand.refused.sum():,} of {len(demand.refused):,} prompts are over max_prompt_tokens: rejected on arrival"
    ]


def _about_drops(n: int, dropped: Mapping[str, int]) -> list[str]:
    total = n + sum(dropped.values())
    return [f"{number:,} of {total:,} records are left out: {reason}" for reason, number in dropped.items() if number]

"""What all traces have in common: the options of their YAML block, and what these do to the recorded requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mechanism.prompts import IntArray, Prompts
from sim.errors import ScenarioError
from sim.quantities import Count, PositiveSeconds, Ratio, Seconds
from sim.requests import Demand
from sim.session_turns import turn_numbers

__all__ = ["TraceOptions", "by_arrival"]

BoolArray = npt.NDArray[np.bool_]

_LONGEST = 2**31 - 1
#: Share of blocks and texts that may vanish in rounding before it is said.
_LOST = 0.01


@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """The keys every trace takes; a format adds its own and says in `generate` how its records read.

    They apply in this order: the window of time, lengths, the limit of prompts, the number of requests. Records
    without input are dropped and counted.

    Attributes
    ----------
    path : the file.
    start_s : leave out what arrives earlier, and count time from here.
    end_s : leave out what arrives then or later; null = no end.
    num_requests : keep the first so many requests; null = all.
    length_scale : multiply every length by this, of blocks, private texts and outputs alike, rounded and at least 1:
        0.1 makes a long trace fit a small cache and leaves its hit rate as it is, up to rounding.
    max_prompt_tokens : the longest prompt, after length_scale; null = no limit.
    over_limit : longer prompts: reject = the request arrives and is rejected, truncate = the end is cut off, skip = the
        record is left out; each is counted.
    zero_output : records without output (failed calls): drop them, counted, or keep them as requests that generate
        one token.
    """

    path: Path
    start_s: Seconds = 0.0
    end_s: PositiveSeconds | None = None
    num_requests: Count | None = None
    length_scale: Ratio = 1.0
    max_prompt_tokens: Count | None = None
    over_limit: Literal["reject", "truncate", "skip"] = "reject"
    zero_output: Literal["drop", "keep"] = "drop"

    def __post_init__(self) -> None:
        if self.end_s is not None and self.end_s <= self.start_s:
            raise ScenarioError("end_s", str(self.end_s), f"more than start_s, which is {self.start_s}")

    def apply(self, recorded: Demand) -> Demand:
        """`recorded` (file order, zero lengths possible) by (arrival, file order), with these options applied."""
        demand, counts = recorded, dict(recorded.dropped)
        if recorded.arrival_ns is None:
            self._refuse_window()
        else:
            demand = _window(recorded, recorded.arrival_ns, self.start_s, self.end_s)
            if outside := len(recorded.prompts) - len(demand.prompts):
                counts[_window_name(self.start_s, self.end_s)] = outside
        demand = _drop(demand, np.diff(demand.prompts.indptr) == 0, "empty prompt", counts)
        if self.zero_output == "drop":
            demand = _drop(demand, demand.output_tokens == 0, "zero output", counts)
        demand = _scale(_prefill_only(demand), self.length_scale)
        demand = self._limit(demand, counts)
        if self.num_requests is not None and len(demand.prompts) > self.num_requests:
            demand = _take(demand, np.arange(self.num_requests))
        demand = replace(demand, dropped=counts, cluster=np.arange(len(demand.prompts)))
        return demand if demand.session is None else _in_sessions(demand, demand.session)

    def _refuse_window(self) -> None:
        for key, asked in (("start_s", self.start_s > 0), ("end_s", self.end_s is not None)):
            if asked:
                raise ScenarioError(f"workload.{key}", str(getattr(self, key)), "nothing: the trace has no clock")

    def _limit(self, demand: Demand, counts: dict[str, int]) -> Demand:
        if self.max_prompt_tokens is None:
            return demand
        longer = demand.prompts.num_tokens > self.max_prompt_tokens
        limit = f"{self.max_prompt_tokens:,} tokens"
        if self.over_limit == "skip":
            return _drop(demand, longer, f"prompt over {limit}", counts)
        if not longer.any():
            return demand
        if self.over_limit == "reject":
            return replace(demand, refused=longer)
        warning = f"{longer.sum():,} of {len(longer):,} prompts are cut to {limit}"
        cut = _truncate(demand.prompts, self.max_prompt_tokens)
        return replace(demand, prompts=cut, warnings=(*demand.warnings, warning))


def by_arrival(demand: Demand) -> Demand:
    """The requests by (arrival, file order); as they are where they have no times."""
    if demand.arrival_ns is None or not (np.diff(demand.arrival_ns) < 0).any():
        return demand
    return _take(demand, np.argsort(demand.arrival_ns, kind="stable"))


def _window_name(start_s: float, end_s: float | None) -> str:
    """Why a record outside the window is left out."""
    ends = [f"before start_s: {start_s:g}"] if start_s > 0 else []
    return " or ".join([*ends, *([f"from end_s: {end_s:g} on"] if end_s is not None else [])])


def _window(demand: Demand, arrival_ns: IntArray, start_s: float, end_s: float | None) -> Demand:
    """What arrives in [start_s, end_s), sorted, its times counted from start_s."""
    start_ns = round(start_s * 1e9)
    end_ns = np.inf if end_s is None else round(end_s * 1e9)
    demand, arrival_ns = by_arrival(demand), np.sort(arrival_ns)
    inside = np.flatnonzero((arrival_ns >= start_ns) & (arrival_ns < end_ns))
    if len(inside) < len(arrival_ns):
        demand, arrival_ns = _take(demand, inside), arrival_ns[inside]
    return replace(demand, arrival_ns=arrival_ns - start_ns)


def _drop(demand: Demand, unwanted: BoolArray, reason: str, counts: dict[str, int]) -> Demand:
    number = int(unwanted.sum())
    if not number:
        return demand
    counts[reason] = counts.get(reason, 0) + number
    return _take(demand, np.flatnonzero(~unwanted))


def _prefill_only(demand: Demand) -> Demand:
    """Requests without output generate one token, which nobody recorded."""
    failed = demand.output_tokens == 0
    if not failed.any():
        return demand
    recorded = None if demand.output_ids is None else ~failed
    return replace(demand, output_tokens=np.maximum(demand.output_tokens, 1), output_recorded=recorded)


def _scale(demand: Demand, factor: float) -> Demand:
    if factor == 1.0:
        return demand
    outputs = None if demand.output_ids is None else _scaled_prompts(demand.output_ids, factor)
    pieces = demand.prompts.lengths if demand.prompts.lengths is not None else demand.prompts.num_tokens
    lost = float((pieces * factor < 0.5).mean()) if len(pieces) else 0.0
    warning = (
        f"length_scale {factor:g} leaves {lost:.1%} of the prompts' pieces at 1 token, which is more than their share"
    )
    return replace(
        demand,
        warnings=(*demand.warnings, *([f"{warning}: the hit rate is no longer the trace's"] if lost > _LOST else [])),
        prompts=_scaled_prompts(demand.prompts, factor),
        output_tokens=_scaled(demand.output_tokens, factor),
        output_ids=outputs,
    )


def _scaled_prompts(prompts: Prompts, factor: float) -> Prompts:
    if prompts.lengths is None:
        raise ScenarioError("workload.length_scale", str(factor), "1: single tokens cannot shrink or grow")
    return replace(prompts, lengths=_scaled(prompts.lengths, factor).astype(np.int32))


def _scaled(lengths: IntArray, factor: float) -> IntArray:
    scaled = np.maximum(np.rint(lengths * factor), 1)
    if len(scaled) and scaled.max() > _LONGEST:
        raise ScenarioError("workload.length_scale", str(factor), f"a factor that keeps lengths below {_LONGEST:,}")
    whole: IntArray = scaled.astype(np.int64)
    return whole


def _truncate(prompts: Prompts, limit: int) -> Prompts:
    """The first `limit` tokens of every prompt."""
    counts = np.diff(prompts.indptr)
    lengths = np.ones(len(prompts.symbols), dtype=np.int64) if prompts.lengths is None else prompts.lengths
    ends = np.cumsum(lengths, dtype=np.int64)
    begin = np.concatenate(([0], ends))[prompts.indptr[:-1]]
    before = ends - lengths - np.repeat(begin, counts)
    kept = before < limit
    rows = np.repeat(np.arange(len(counts)), counts)[kept]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(counts)))))
    left = None if prompts.lengths is None else np.minimum(lengths, limit - before)[kept].astype(np.int32)
    return Prompts(prompts.symbols[kept], indptr, left)


def _take(demand: Demand, rows: IntArray) -> Demand:
    """The requests at `rows`, in that order."""
    picked = rows.tolist()

    def names(column: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if column is None else tuple(column[row] for row in picked)

    def entries(column: Any) -> Any:
        return None if column is None else column[rows]

    return replace(
        demand,
        prompts=demand.prompts.take(rows),
        output_tokens=demand.output_tokens[rows],
        cluster=demand.cluster[rows],
        request_id=names(demand.request_id),
        session=names(demand.session),
        turn=entries(demand.turn),
        arrival_ns=entries(demand.arrival_ns),
        think_ns=entries(demand.think_ns),
        user=names(demand.user),
        value=entries(demand.value),
        bid=entries(demand.bid),
        output_ids=None if demand.output_ids is None else demand.output_ids.take(rows),
        output_recorded=entries(demand.output_recorded),
        cached_tokens=entries(demand.cached_tokens),
    )


def _in_sessions(demand: Demand, session: tuple[str, ...]) -> Demand:
    """Sessions become clusters in order of appearance, and their requests are numbered."""
    number: dict[str, int] = {}
    cluster = np.array([number.setdefault(name, len(number)) for name in session], dtype=np.int64)
    return replace(demand, cluster=cluster, turn=turn_numbers(session))

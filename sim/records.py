"""The records of a run: flat tables, one row a request, an auction, a payment or an engine step (DESIGN.md, Files)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from sim.clock import NS_PER_S
from sim.realised import realised_priority_of_run
from sim.requests import RequestTable
from sim.run_log import RunLog

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Cell", "auction_frame", "engine_step_frame", "payment_frame", "request_frame", "request_times"]


@dataclass(frozen=True)
class Cell:
    """One mechanism on one trial: which schedule label, which trial, whether all of it is one cohort, and its log.

    `times` and `realised` are computed at first use, so ask for them only when the run is over.
    """

    schedule: str
    trial: int
    saturated: bool
    requests: RequestTable
    log: RunLog

    @functools.cached_property
    def times(self) -> dict[str, FloatArray]:
        """Times and latencies of every request (see `request_times`)."""
        return request_times(self)

    @functools.cached_property
    def realised(self) -> FloatArray:
        """(n,) realised priority of every request; NaN outside any cohort."""
        return realised_priority_of_run(self.log, self.times["ttft_s"], saturated=self.saturated)


def _seconds(times_ns: Sequence[int | None]) -> FloatArray:
    return np.array([np.nan if t is None else t / NS_PER_S for t in times_ns], dtype=np.float64)


def request_times(cell: Cell) -> dict[str, FloatArray]:
    """Times and latencies of every request in s, NaN where they did not happen (DESIGN.md, Definitions).

    Differences are taken on integer nanoseconds, so equal waits are equal numbers.
    """
    log = cell.log

    def gap(ends: Sequence[int | None], starts: Sequence[int | None]) -> FloatArray:
        pairs = zip(ends, starts, strict=True)
        return _seconds([None if end is None or start is None else end - start for end, start in pairs])

    more_tokens = np.array(log.output_tokens, dtype=np.float64) - 1
    decode_s = gap(log.finish_ns, log.first_token_ns)
    return {
        "arrival_s": _seconds(log.arrival_ns),
        "dispatch_s": _seconds(log.dispatch_ns),
        "admitted_s": _seconds(log.admitted_ns),
        "first_token_s": _seconds(log.first_token_ns),
        "finish_s": _seconds(log.finish_ns),
        "ttft_s": gap(log.first_token_ns, log.arrival_ns),
        "server_ttft_s": gap(log.first_token_ns, log.dispatch_ns),
        "client_queue_time_s": gap(log.dispatch_ns, log.arrival_ns),
        "tpot_s": np.divide(decode_s, more_tokens, out=np.full(len(decode_s), np.nan), where=more_tokens > 0),
        "e2e_s": gap(log.finish_ns, log.arrival_ns),
    }


def request_frame(cell: Cell) -> pl.DataFrame:
    """requests.parquet: one row a request, in table order."""
    requests, log, times, n = cell.requests, cell.log, cell.times, len(cell.requests)
    names = np.array(requests.user_names, dtype=object)
    return _frame(
        ("request_id", "str", requests.request_id),
        ("schedule", "str", [cell.schedule] * n),
        ("trial", "int", [cell.trial] * n),
        ("user", "str", names[requests.user].tolist()),
        ("session", "str", requests.session or [None] * n),
        ("turn", "int", [None] * n if requests.turn is None else requests.turn.tolist()),
        ("batch", "int", _non_negative(log.batch)),
        ("position", "int", _non_negative(log.position)),
        ("prompt_tokens", "int", requests.prompt_tokens.tolist()),
        ("cached_tokens", "int", log.cached_tokens),
        ("output_tokens", "int", log.output_tokens),
        *((name, "float", values) for name, values in times.items()),
        ("value", "float", requests.value),
        ("bid", "float", log.bid),
        ("priority", "float", log.priority),
        ("realised_priority", "float", cell.realised),
        ("payment", "float", log.payment),
        ("num_retractions", "int", log.num_retractions),
        ("status", "str", log.status),
        ("error", "str", log.error),
    )


def auction_frame(cell: Cell) -> pl.DataFrame:
    """auctions.parquet: one row an auction. `auction_ms` is null in simulations: equal seeds give equal records."""
    auctions = cell.log.auctions
    return _frame(
        ("schedule", "str", [cell.schedule] * len(auctions)),
        ("trial", "int", [cell.trial] * len(auctions)),
        ("batch", "int", range(len(auctions))),
        ("formed_s", "float", [a.formed_ns / NS_PER_S for a in auctions]),
        ("n", "int", [len(a.members) for a in auctions]),
        ("num_users", "int", [len(a.users) for a in auctions]),
        ("tree_nodes", "int", [a.tree_nodes for a in auctions]),
        ("scheduled_welfare", "float", [a.scheduled_welfare for a in auctions]),
        ("declared_welfare", "float", [a.declared_welfare for a in auctions]),
        ("revenue", "float", [float(a.user_payment.sum()) for a in auctions]),
        ("auction_ms", "float", [a.real_ms for a in auctions]),
    )


def payment_frame(cell: Cell) -> pl.DataFrame:
    """payments.parquet: one row a user and auction; `budget_left` is null for agents without a budget."""
    auctions, names = cell.log.auctions, cell.requests.user_names
    rows = sum(len(a.users) for a in auctions)

    def column(name: str) -> list[Any]:
        return [item for a in auctions for item in getattr(a, name).tolist()]

    obtained, paid = column("user_obtained"), column("user_payment")
    return _frame(
        ("schedule", "str", [cell.schedule] * rows),
        ("trial", "int", [cell.trial] * rows),
        ("batch", "int", [number for number, a in enumerate(auctions) for _ in a.users]),
        ("user", "str", [names[user] for user in column("users")]),
        ("num_requests", "int", column("user_requests")),
        ("declared_value", "float", column("user_declared")),
        ("obtained_value", "float", obtained),
        ("payment", "float", paid),
        ("utility", "float", [value - payment for value, payment in zip(obtained, paid, strict=True)]),
        ("multiplier", "float", [item for a in auctions for item in a.user_standing.multiplier.tolist()]),
        ("budget_left", "float", [item for a in auctions for item in a.user_standing.budget_left.tolist()]),
    )


def engine_step_frame(cell: Cell) -> pl.DataFrame:
    """engine_steps.parquet: one row a pass; a run of equal decode passes is one row."""
    steps = cell.log.engine_steps
    start, duration, kind, size, new, context, used, evicted = zip(*steps, strict=True) if steps else ((),) * 8
    return _frame(
        ("schedule", "str", [cell.schedule] * len(steps)),
        ("trial", "int", [cell.trial] * len(steps)),
        ("start_s", "float", [t / NS_PER_S for t in start]),
        ("duration_s", "float", [t / NS_PER_S for t in duration]),
        ("kind", "str", kind),
        ("num_requests", "int", size),
        ("new_tokens", "int", new),
        ("context_tokens", "int", context),
        ("kv_used_tokens", "int", used),
        ("evicted_tokens", "int", evicted),
    )


def _non_negative(numbers: IntArray) -> list[int | None]:
    return [None if number < 0 else number for number in numbers.tolist()]


def _frame(*columns: tuple[str, str, Any]) -> pl.DataFrame:
    """A frame of (name, type, values); NaN becomes null, so "did not happen" has one spelling in the files."""
    import polars as pl

    types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
    frame = pl.DataFrame([pl.Series(name, values, dtype=types[kind], strict=False) for name, kind, values in columns])
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))

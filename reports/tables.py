"""The page's tables: all metrics side by side, users by what they paid, what became of the requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from reports.metrics import HEADLINES, Metric, known_metrics, unit_of
from reports.series import Series
from reports.text import MISSING, difference, estimate, number

__all__ = [
    "Comparison",
    "MetricRow",
    "StatusTable",
    "UserTable",
    "side_by_side",
    "statuses",
    "unserved",
    "users_by_spend",
]

#: Users listed a schedule.
TOP_USERS = 12
#: Reasons listed a status.
TOP_REASONS = 5
_STATUSES = ("ok", "error", "timeout", "rejected", "incomplete")


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric: for each schedule its estimate and, under it, the paired difference (may be empty)."""

    metric: Metric
    cells: tuple[tuple[str, str], ...]

    @property
    def latency(self) -> bool:
        """Whether the row belongs to the long list of latency statistics rather than the first table."""
        return self.metric.name.endswith("_ms") and self.metric not in HEADLINES


@dataclass(frozen=True, slots=True)
class Comparison:
    """All metrics that some schedule reports, a column a schedule, and the titles of those that none does."""

    rows: tuple[MetricRow, ...]
    absent: tuple[str, ...]


def side_by_side(series: Sequence[Series]) -> Comparison:
    """Every metric of summary.json, a column a schedule."""
    rows, absent = [], []
    for metric in known_metrics(one.record for one in series):
        if all(one.metric(metric.name).mean is None for one in series):
            absent.append(metric.family)
            continue
        unit = unit_of(metric, series)
        cells = []
        for one in series:
            told = difference(one.paired(metric.name), unit) if one.schedule != one.reference else MISSING
            cells.append((estimate(one.metric(metric.name), unit), "" if told == MISSING else f"Δ {told}"))
        rows.append(MetricRow(metric, tuple(cells)))
    return Comparison(tuple(rows), tuple(dict.fromkeys(absent)))


@dataclass(frozen=True, slots=True)
class UserTable:
    """The users of one schedule's first trial who paid most.

    Attributes
    ----------
    rows : user, requests, declared, obtained, paid, utility, mean TTFT; as texts.
    total : the same over all users of the trial.
    note : how many users there are, and how they are ranked.
    """

    series: Series
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...]
    note: str


def users_by_spend(series: Sequence[Series]) -> tuple[UserTable, ...]:
    """One table a schedule, of its first trial: there a user is one person, whose values are drawn once."""
    return tuple(_user_table(one) for one in series)


def _user_table(one: Series) -> UserTable:
    money = ["declared_value", "obtained_value", "payment", "utility"]
    accounts = (
        one.first_trial(one.run.payments)
        .group_by("user")
        .agg(pl.col("num_requests").sum(), *(pl.col(name).sum() for name in money))
    )
    requests = one.first_trial(one.run.requests)
    waits = requests.group_by("user").agg(pl.col("ttft_s").mean())
    accounts = accounts.join(waits, on="user", how="left")
    paid = float(accounts["payment"].sum())
    rank = "payment" if paid > 0 else "obtained_value"
    ranked = accounts.sort([rank, "obtained_value", "user"], descending=[True, True, False])
    rows = ranked.head(TOP_USERS).select("user", "num_requests", *money, "ttft_s").rows()
    words = "what they paid" if paid > 0 else "the value they obtained, for this schedule charges nothing"
    note = f"First trial: {len(accounts):,} users, ranked by {words}"
    note += f"; the first {TOP_USERS} are listed." if len(accounts) > TOP_USERS else "."
    total = ("all users", int(accounts["num_requests"].sum()), *(float(accounts[name].sum()) for name in money))
    mean_ttft = requests["ttft_s"].mean()
    last = float(mean_ttft) if isinstance(mean_ttft, float) else None
    return UserTable(one, tuple(_texts(row) for row in rows), _texts((*total, last)), note)


def _texts(row: Sequence[object]) -> tuple[str, ...]:
    """Texts of (user, requests, four amounts of money, TTFT in s)."""
    user, requests, *money, ttft_s = row
    amounts = (number(found if isinstance(found, float) else None, 3) for found in money)
    wait = f"{number(ttft_s, 3)} s" if isinstance(ttft_s, float) else MISSING
    return (str(user), f"{requests:,}", *amounts, wait)


@dataclass(frozen=True, slots=True)
class StatusTable:
    """What became of one schedule's requests: a count per status over all trials, and the reasons given."""

    series: Series
    counts: tuple[int, ...]
    total: int
    reasons: tuple[tuple[str, int, str], ...]


def statuses(series: Sequence[Series]) -> tuple[StatusTable, ...]:
    """One row of counts a schedule, in the order ok, error, timeout, rejected, incomplete."""
    return tuple(_status_table(one) for one in series)


def _status_table(one: Series) -> StatusTable:
    requests = one.rows(one.run.requests)
    found = dict(requests.group_by("status").agg(pl.len()).rows())
    told = requests.drop_nulls("error").select("status", "error")
    kinds: dict[tuple[str, str], list[str]] = {}
    for status, error in told.rows():
        # reasons that differ in their numbers only are one kind of reason
        kinds.setdefault((status, re.sub(r"\d[\d,.]*", "#", error)), []).append(error)
    ranked = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    reasons = tuple(
        (status, len(errors), errors[0] if len(set(errors)) == 1 else f"for example: {errors[0]}")
        for (status, _), errors in ranked[:TOP_REASONS]
    )
    return StatusTable(one, tuple(found.get(name, 0) for name in _STATUSES), len(requests), reasons)


def unserved(tables: Sequence[StatusTable]) -> str:
    """A sentence on requests that were not served; empty when all were."""
    told = []
    for table in tables:
        if table.counts[0] < table.total:
            failed = ((name, count) for name, count in zip(_STATUSES[1:], table.counts[1:], strict=True) if count)
            why = ", ".join(f"{count:,} {name}" for name, count in failed)
            told.append((table.series.label, f"{table.counts[0]:,} of {table.total:,} requests ({why})"))
    if not told:
        return ""
    if len(told) == len(tables) > 1 and len({counts for _, counts in told}) == 1:
        return f"Served: {told[0][1]}, under every schedule."
    return f"Served: {'; '.join(f'{label} {counts}' for label, counts in told)}."

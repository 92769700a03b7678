"""What the person at the keyboard should know of a run before reading its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sim.records import Cell
from sim.requests import RequestTable
from sim.scenario import Scenario, ScheduleEntry

__all__ = ["about_cell", "about_requests"]


def about_requests(scenario: Scenario, requests: RequestTable) -> Iterator[str]:
    """Bids that were recorded and that nobody makes."""
    unlike = int((requests.stated_bid != requests.value).sum())
    if unlike and all(each.use != "from-trace" for entry in scenario.schedules for each in entry.bidding):
        yield (
            f"the workload records {unlike:,} bids that differ from the values, and nobody makes them: agents bid by"
            " what a request is worth to them. Say bidding: from-trace to bid as recorded."
        )


def about_cell(entry: ScheduleEntry, cell: Cell, card: Mapping[str, Any] | None) -> Iterator[str]:
    """What one mechanism did on one trial, as far as it makes its figures others than they seem.

    Parameters
    ----------
    card : the latency profile, where there is one.
    """
    yield from _no_effect(entry, cell)
    if cell.trial > 0:
        return  # counts differ from trial to trial; the first one's tell
    log, requests = cell.log, cell.requests
    ok = np.array(log.status) == "ok"
    where = f"{entry.label}, trial 0"
    short = int((ok & (np.array(log.output_tokens) < requests.output_tokens)).sum())
    if short:
        cut = f"{short:,} of {ok.sum():,} answers"
        yield f"{where}: {cut} were ended before the tokens asked for; no more fit the server"
    known = (card or {}).get("measured_up_to_tokens")
    longer = 0 if known is None else int((ok & (requests.prompt_tokens + requests.output_tokens > known)).sum())
    if longer:
        yield (
            f"{where}: {longer:,} of {ok.sum():,} requests served are longer than the {known:,} tokens that the latency"
            " profile was measured up to: their times are extrapolated"
        )


def _no_effect(entry: ScheduleEntry, cell: Cell) -> Iterator[str]:
    """A mechanism that never changes the order of arrival: its figures are FCFS's."""
    auctions = cell.log.auctions
    if entry.use == "no-sort" or max((len(auction.members) for auction in auctions), default=0) < 2:
        return
    if any(np.any(np.diff(auction.members) <= 0) for auction in auctions):
        return
    paid = any(auction.user_payment.any() for auction in auctions)
    money = "; only its payments are its own" if paid else ""
    same = "so its times and welfare are those of no-sort"
    yield f"{entry.label}: every auction kept the order of arrival, {same}{money}."

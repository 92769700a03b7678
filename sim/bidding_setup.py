"""Who bids in one run of a mechanism: agents with their shares of the users, and what they need to know beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanism.bidding._mixed import Mixed, assign
from mechanism.bidding.truthful import Truthful
from mechanism.model import Bidder, BiddingSetting, LooksBack
from mechanism.prompts import FloatArray, IntArray
from sim.arrivals import Saturated
from sim.auctioneer import Auctioneer, TreeCache
from sim.bidding_entries import BiddingEntry
from sim.requests import RequestTable
from sim.rng import stream
from sim.run_log import RunLog
from sim.scenario import Scenario
from sim.schedule_entries import ScheduleEntry

__all__ = ["Reference", "bidding_of", "population"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Reference:
    """The same mechanism on the same requests with truthful bids: how many auctions, and what each user pays in all."""

    num_auctions: int
    spend: FloatArray

    @classmethod
    def of(cls, log: RunLog, num_users: int) -> Reference:
        """What a log says; (num_users,) spend in money."""
        spend = np.zeros(num_users)
        for auction in log.auctions:
            spend[auction.users] += auction.user_payment
        return cls(len(log.auctions), spend)


def bidding_of(
    scenario: Scenario,
    entry: ScheduleEntry,
    requests: RequestTable,
    trial: int,
    trees: TreeCache,
    run_truthfully: Callable[[], RunLog],
) -> Callable[[BoolArray], Bidder]:
    """What makes the bidder of one run, once it is known which requests (n,) are refused on arrival.

    Who has which agent is drawn from the stream "bidding", budgets from "bidding-0", "bidding-1", … in the order of the
    agents: every mechanism of a trial meets the same population. What agents need to know beforehand is measured on
    the same requests under the same mechanism, all users truthful. When all requests wait from the start the auctions
    are known without serving anybody; otherwise (or where the rule reads the past of a run) they depend on the
    server's pace, and the whole run is done once before, truthfully: `run_truthfully`, on the same kind of server.
    """
    num_users = len(requests.user_names)
    needs = frozenset().union(*(each.agent.needs for each in entry.bidding))
    known_ahead = isinstance(scenario.arrivals, Saturated) and not isinstance(entry.rule, LooksBack)
    measured = Reference.of(run_truthfully(), num_users) if needs and not known_ahead else None

    def start(refused: BoolArray) -> Bidder:
        reference = measured
        if needs and reference is None:
            batches = _batches(refused, scenario.batching.size)
            spend = _spend(requests, entry, batches, trees) if "truthful_spend" in needs else np.zeros(num_users)
            reference = Reference(len(batches), spend)
        agent_of = population(entry.bidding, num_users, scenario.seed, trial)
        return _start(entry.bidding, agent_of, reference, lambda name: stream(scenario.seed, trial, name))

    return start


def population(entries: Sequence[BiddingEntry], num_users: int, seed: int, trial: int) -> IntArray:
    """(num_users,) which of the agents bids for each user in a trial."""
    if len(entries) == 1:
        return np.zeros(num_users, dtype=np.int64)
    return assign(num_users, [each.share for each in entries], stream(seed, trial, "bidding"))


def _start(
    entries: Sequence[BiddingEntry],
    agent_of: IntArray,
    reference: Reference | None,
    rng_stream: Callable[[str], np.random.Generator],
) -> Bidder:
    bidders = []
    for part, each in enumerate(entries):
        mine = np.flatnonzero(agent_of == part)
        setting = BiddingSetting(
            num_users=len(mine),
            num_auctions=None if reference is None else reference.num_auctions,
            truthful_spend=None if reference is None else reference.spend[mine],
            rng=rng_stream(f"bidding-{part}"),
        )
        bidders.append(each.agent.start(setting))
    return bidders[0] if len(bidders) == 1 else Mixed(bidders, agent_of)


def _batches(refused: BoolArray, size: int) -> list[IntArray]:
    """The batches of a run whose requests all wait from the start: table indices, by file order."""
    waiting = np.flatnonzero(~refused)
    return [waiting[begin : begin + size] for begin in range(0, len(waiting), size)]


def _spend(requests: RequestTable, entry: ScheduleEntry, batches: Sequence[IntArray], trees: TreeCache) -> FloatArray:
    log = RunLog.of(len(requests))
    auctioneer = Auctioneer(requests, entry.rule, entry.pricing, Truthful(), trees, log)
    for batch in batches:
        auctioneer.hold(batch, 0)
    return Reference.of(log, len(requests.user_names)).spend

"""What budgets did in one run of a mechanism: spend, utility and regret of users, welfare and bound of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanism.bidding.pacing import Pacing
from mechanism.bounds import welfare_bound
from mechanism.forest import Forest
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree, star_tree
from mechanism.regret import Hindsight
from sim.auctioneer import TreeCache
from sim.bidding_setup import population
from sim.records import Cell
from sim.scenario import Scenario
from sim.schedule_entries import ScheduleEntry

__all__ = ["Curve", "PacedCell", "PacedUser", "measure_pacing"]

#: Regret takes some forty evaluations of all auctions for each user: at most so many users, evenly spaced by number.
MOST_USERS = 64
#: Points of a curve.
_POINTS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One user over the auctions of a run, at some of them: cumulative amounts after each, money.

    Attributes
    ----------
    auction : numbers, from 0.
    multiplier : in the last auction so far in which the user asked for something; None before the first.
    spent, utility : so far.
    bound : what hindsight allows up to here; None where regret is not defined.
    """

    auction: tuple[int, ...]
    multiplier: tuple[float | None, ...]
    spent: tuple[float, ...]
    utility: tuple[float, ...]
    bound: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PacedUser:
    """One user's budget and what became of it, in one period of `horizon` auctions (without renewal: the run).

    `curve`: of the first period.

    `bound` is the hindsight bound on his utility, `mu` where it is attained; None where regret is not defined: it
    takes a truthful payment rule.
    """

    user: str
    period: int
    horizon: int
    budget: float
    spent: float
    utility: float
    bound: float | None
    mu: float | None
    curve: Curve | None

    @property
    def regret(self) -> float | None:
        """How far the utility stayed below the bound, money."""
        return None if self.bound is None else self.bound - self.utility


@dataclass(frozen=True, slots=True, kw_only=True)
class PacedCell:
    """One mechanism on one trial.

    Attributes
    ----------
    welfare, best : (T,) Σ v·x of every auction as scheduled, and of the best order of the rule's domain, money.
    bound : (T,) the share of `best` that Theorem 4.4 guarantees; None where no order is the best for the bids.
    users : those with a budget.
    agents : who bids, by the names of the agents.
    overspent : auctions after which some user had spent more than his budget.
    """

    schedule: str
    trial: int
    welfare: FloatArray
    best: FloatArray | None
    bound: FloatArray | None
    users: tuple[PacedUser, ...]
    agents: tuple[str, ...]
    overspent: int

    def to_json(self) -> dict[str, Any]:
        """The cell's part of pacing.json."""
        from dataclasses import asdict

        columns = {"welfare": self.welfare, "best_welfare": self.best, "bound": self.bound}
        return {
            "schedule": self.schedule,
            "trial": self.trial,
            "auctions": {name: None if column is None else column.tolist() for name, column in columns.items()},
            "users": [{**asdict(user), "regret": user.regret} for user in self.users],
            "agents": list(self.agents),
            "overspent": self.overspent,
        }


def measure_pacing(scenario: Scenario, entry: ScheduleEntry, cell: Cell, trees: TreeCache) -> PacedCell | None:
    """Measure a finished cell; None where nobody has a budget."""
    if not any(each.agent.keeps_a_budget for each in entry.bidding) or not cell.log.auctions:
        return None
    auctions, requests = cell.log.auctions, cell.requests
    batches = [auction.batch for auction in auctions]
    values = [requests.value[batch] for batch in batches]
    bids = [cell.log.bid[batch] for batch in batches]
    shapes = _shapes(entry, cell, batches, trees)
    best = bound = None
    if shapes is not None:
        best, bound = _bounds(Forest.of(shapes), np.concatenate(values), np.concatenate(bids))
    users, overspent = [], 0
    agent_of = population(entry.bidding, len(requests.user_names), scenario.seed, cell.trial)
    for user, columns in _columns(cell).items():
        agent = entry.bidding[int(agent_of[user])].agent
        length = agent.horizon if isinstance(agent, Pacing) and agent.renews and agent.horizon else len(auctions)
        for period, begin in enumerate(range(0, len(auctions) - length + 1, length)):
            part = slice(begin, begin + length)
            hindsight = None
            if shapes is not None and entry.pricing.truthful:
                mine = [requests.user[batch] == user for batch in batches[part]]
                hindsight = Hindsight(shapes[part], values[part], bids[part], mine)
            found = _paced_user(requests.user_names[user], period, columns[:, part], hindsight, period == 0)
            users.append(found)
            overspent += int((np.cumsum(columns[1, part]) > found.budget).sum())
    return PacedCell(
        schedule=cell.schedule,
        trial=cell.trial,
        welfare=np.array([auction.scheduled_welfare for auction in auctions]),
        best=best,
        bound=bound,
        users=tuple(users),
        agents=tuple(each.use for each in entry.bidding),
        overspent=overspent,
    )


def _shapes(entry: ScheduleEntry, cell: Cell, batches: Sequence[IntArray], trees: TreeCache) -> list[RadixTree] | None:
    """The trees whose depth-first orders the rule chooses from; None if it maximises nothing."""
    if entry.rule.domain is None:
        return None
    if entry.rule.domain == "permutations":
        return [star_tree(len(batch)) for batch in batches]
    return [trees.tree(cell.requests, batch) for batch in batches]


def _bounds(forest: Forest, values: FloatArray, bids: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(T,) best welfare and guaranteed share of every auction: Theorem 4.4 at all nodes of all auctions at once."""
    found = welfare_bound(forest.tree, bids, values)
    inside = found.node > 0  # the forest's own root is nobody's auction
    auction = forest.auction[forest.tree.start[found.node[inside]]]
    count = len(forest.size)
    total = np.bincount(auction, found.omega[inside], count)
    kept = np.bincount(auction, (found.omega * found.inverse_kappa)[inside], count)
    guaranteed = np.divide(kept, total, out=np.ones(count), where=total > 0)
    alone = np.where(forest.size == 1, forest.sums(values), 0.0)
    return total / np.maximum(forest.size - 1, 1) + alone, guaranteed


def _columns(cell: Cell) -> dict[int, FloatArray]:
    """User with a budget → (4, T): utility, payment, multiplier, budget left; NaN in auctions he is not in.

    At most `MOST_USERS` users.
    """
    auctions = cell.log.auctions
    with_budget = sorted({int(u) for a in auctions for u in a.users[~np.isnan(a.user_standing.budget_left)]})
    step = max(1, -(-len(with_budget) // MOST_USERS))
    columns = {user: np.full((4, len(auctions)), np.nan) for user in with_budget[::step]}
    for found in columns.values():
        found[:2] = 0.0
    for number, auction in enumerate(auctions):
        standing, paid = auction.user_standing, auction.user_payment
        rows = np.stack((auction.user_obtained - paid, paid, standing.multiplier, standing.budget_left))
        for place, user in enumerate(auction.users.tolist()):
            if user in columns:
                columns[user][:, number] = rows[:, place]
    return columns


def _paced_user(
    name: str, period: int, columns: FloatArray, hindsight: Hindsight | None, with_curve: bool
) -> PacedUser:
    utility, paid, multiplier, left = columns
    present = np.flatnonzero(~np.isnan(left))
    first = int(present[0]) if len(present) else None
    budget = 0.0 if first is None else float(left[first] + paid[first])
    bound = None if hindsight is None else hindsight.bound(budget)
    curve = None
    if with_curve:
        at = np.unique(np.linspace(0, len(paid) - 1, min(len(paid), _POINTS)).round().astype(np.int64))
        held = np.maximum.accumulate(np.where(np.isnan(multiplier), -1, np.arange(len(paid))))
        curve = Curve(
            auction=tuple(at.tolist()),
            multiplier=tuple(None if held[t] < 0 else float(multiplier[held[t]]) for t in at.tolist()),
            spent=tuple(np.cumsum(paid)[at].tolist()),
            utility=tuple(np.cumsum(utility)[at].tolist()),
            bound=None if bound is None else tuple(np.cumsum(bound.terms)[at].tolist()),
        )
    return PacedUser(
        user=name,
        period=period,
        horizon=len(paid),
        budget=budget,
        spent=float(paid.sum()),
        utility=float(utility.sum()),
        bound=None if bound is None else bound.value,
        mu=None if bound is None else bound.mu,
        curve=curve,
    )

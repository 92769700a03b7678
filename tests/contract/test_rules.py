"""Every plugin in `mechanism/scheduling` and `mechanism/pricing` keeps what it declares.

A new file in one of the folders is picked up by itself. A rule whose parameters have no defaults is tried with the ones
in PARAMETERS.
"""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from auction_kit import auction_of, random_auctions

from mechanism.clearing import clear
from mechanism.errors import MechanismError
from mechanism.model import Auction, LooksBack, PricingRule, SchedulingRule, SetsPriorities, StaysWithinBids
from mechanism.welfare import is_dfs_schedule, priority, unconstrained_optimum, welfare
from sim.plugins import available, load

PARAMETERS: dict[str, dict[str, Any]] = {}

SCHEDULES, PRICINGS = "mechanism.scheduling", "mechanism.pricing"


def rule(folder: str, name: str) -> Any:
    return load(folder, name)(**PARAMETERS.get(name, {}))


def frozen(auction: Auction) -> Auction:
    """The same auction with arrays that cannot be written to."""
    arrays = [getattr(part, field.name) for part in (auction, auction.tree) for field in dataclasses.fields(part)]
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return auction


AUCTIONS = [frozen(auction) for auction in random_auctions(26, max_requests=12, seed=1)]
PAIRS = [
    pytest.param(rule(SCHEDULES, schedule), rule(PRICINGS, pricing), id=f"{schedule}+{pricing}")
    for schedule in available(SCHEDULES)
    for pricing in available(PRICINGS)
]
DEFINED = [pair for pair in PAIRS if pair.values[1].defined_for(pair.values[0])]
INDIVIDUALLY_RATIONAL = [pair for pair in DEFINED if pair.values[1].individually_rational]
WITHIN_BIDS = [pair for pair in DEFINED if isinstance(pair.values[1], StaysWithinBids)]
TRUTHFUL = [pair for pair in DEFINED if pair.values[1].truthful]
every_schedule = pytest.mark.parametrize(
    "schedule", [pytest.param(rule(SCHEDULES, name), id=name) for name in available(SCHEDULES)]
)


@pytest.mark.parametrize(
    ("folder", "name"), [(folder, name) for folder in (SCHEDULES, PRICINGS) for name in available(folder)]
)
def test_a_rule_is_a_frozen_dataclass_with_a_docstring(folder: str, name: str) -> None:
    kind = load(folder, name)
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert kind.__doc__
    assert rule(folder, name) == rule(folder, name)


@every_schedule
class TestSchedule:
    def test_declares_what_it_is(self, schedule: SchedulingRule) -> None:
        assert schedule.domain in ("dfs", "permutations", None)
        assert isinstance(schedule.bid_blind, bool)
        assert rule(PRICINGS, schedule.default_payment).defined_for(schedule)

    def test_serves_every_request_once(self, schedule: SchedulingRule) -> None:
        for auction in AUCTIONS:
            order = schedule.order(auction)
            assert np.issubdtype(order.dtype, np.integer)
            assert sorted(order.tolist()) == list(range(len(auction)))

    def test_decides_the_same_again(self, schedule: SchedulingRule) -> None:
        for auction in AUCTIONS:
            assert schedule.order(auction).tolist() == schedule.order(auction).tolist()

    def test_looks_at_bids_only_if_it_says_so(self, schedule: SchedulingRule) -> None:
        blind = all(
            schedule.order(auction).tolist() == schedule.order(dataclasses.replace(auction, bids=bids)).tolist()
            for auction in AUCTIONS
            for bids in (auction.bids[::-1].copy(), np.arange(len(auction), dtype=float), np.zeros(len(auction)))
        )
        assert blind == schedule.bid_blind

    def test_looks_at_a_run_s_past_only_if_it_says_so(self, schedule: SchedulingRule) -> None:
        reads = schedule.reads if isinstance(schedule, LooksBack) else frozenset()
        unread = {"resident_tokens", "served_tokens"} - reads
        for auction in AUCTIONS:
            blindfolded = dataclasses.replace(auction, **dict.fromkeys(unread))
            assert schedule.order(auction).tolist() == schedule.order(blindfolded).tolist()

    def test_what_it_asks_of_a_server_is_its_own_order(self, schedule: SchedulingRule) -> None:
        if not isinstance(schedule, SetsPriorities):
            return
        assert schedule.preempts_above is None or schedule.preempts_above >= 0
        for auction in AUCTIONS:
            priorities = schedule.priorities(auction.bids)
            assert np.issubdtype(priorities.dtype, np.integer)
            assert np.all(priorities >= 0)
            assert schedule.order(auction).tolist() == np.argsort(-priorities, kind="stable").tolist()

    def test_is_the_best_in_its_domain(self, schedule: SchedulingRule) -> None:
        for auction in (auction for auction in AUCTIONS if len(auction) <= 6):
            found = welfare(auction.bids, schedule.order(auction))
            orders = [np.array(order, dtype=np.int64) for order in itertools.permutations(range(len(auction)))]
            if schedule.domain == "dfs":
                best = max(welfare(auction.bids, order) for order in orders if is_dfs_schedule(auction.tree, order))
                assert is_dfs_schedule(auction.tree, schedule.order(auction))
                assert found == pytest.approx(best)
            elif schedule.domain == "permutations":
                assert found == pytest.approx(unconstrained_optimum(auction.bids))


@pytest.mark.parametrize(("schedule", "pricing"), DEFINED)
class TestPayments:
    def test_one_finite_charge_a_user_and_nobody_is_paid(self, schedule: SchedulingRule, pricing: PricingRule) -> None:
        for auction in AUCTIONS:
            payments = clear(auction, schedule, pricing).payments
            assert payments.shape == (auction.num_users,)
            assert payments.dtype == np.float64
            assert np.all(np.isfinite(payments))
            assert np.all(payments >= 0)

    def test_charges_the_same_again(self, schedule: SchedulingRule, pricing: PricingRule) -> None:
        for auction in AUCTIONS:
            first, second = (clear(auction, schedule, pricing).payments.tolist() for _ in range(2))
            assert first == second


@pytest.mark.parametrize(("schedule", "pricing"), INDIVIDUALLY_RATIONAL)
def test_nobody_pays_more_than_he_declared(schedule: SchedulingRule, pricing: PricingRule) -> None:
    for auction in AUCTIONS:
        outcome = clear(auction, schedule, pricing)
        declared = np.zeros(auction.num_users)
        np.add.at(declared, auction.users, auction.bids * priority(outcome.order))
        assert np.all(outcome.payments <= declared * (1 + 1e-12))


@pytest.mark.parametrize(("schedule", "pricing"), WITHIN_BIDS)
def test_nobody_pays_more_than_he_bids(schedule: SchedulingRule, pricing: PricingRule) -> None:
    for auction in AUCTIONS:
        for scale in (0.01, 1.0, 1e6):
            louder = dataclasses.replace(auction, bids=auction.bids * scale)
            payments = clear(louder, schedule, pricing).payments
            assert np.all(payments <= np.bincount(louder.users, louder.bids, louder.num_users))


@pytest.mark.parametrize(("schedule", "pricing"), TRUTHFUL)
def test_no_misreport_pays(schedule: SchedulingRule, pricing: PricingRule) -> None:
    for values in ([5.0, 2.0, 4.0, 0.0], [1.0, 1.0, 3.0, 9.0], [2.0, 2.0, 2.0, 2.0]):
        assert _best_gain(np.array(values), schedule, pricing) <= 1e-12


def _best_gain(values: Any, schedule: SchedulingRule, pricing: PricingRule) -> float:
    """The most that user 0 (two requests) or 1 or 2 gains over the truth by any bids of a grid."""
    rows, users = [[1, 1], [1, 2], [2], [1, 1]], [0, 1, 2, 0]
    honest = {}
    gains = [0.0]
    for user in range(3):
        places = [place for place, owner in enumerate(users) if owner == user]
        for lie in [values[places].tolist(), *itertools.product([0.0, 1.0, 2.5, 4.5, 20.0], repeat=len(places))]:
            bids = values.copy()
            bids[places] = lie
            outcome = clear(auction_of(rows, bids.tolist(), users), schedule, pricing)
            utility = float((values * priority(outcome.order))[places].sum() - outcome.payments[user])
            gains.append(utility - honest.setdefault(user, utility))
    return max(gains)


@pytest.mark.parametrize(("schedule", "pricing"), [pair for pair in PAIRS if pair not in DEFINED])
def test_undefined_pairs_are_refused(schedule: SchedulingRule, pricing: PricingRule) -> None:
    with pytest.raises(MechanismError, match="is not defined under"):
        clear(AUCTIONS[5], schedule, pricing)

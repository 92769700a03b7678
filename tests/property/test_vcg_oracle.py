"""Algorithm 2 against its definition: zero a user's bids, schedule anew, charge what the others gain."""

import numpy as np
import oracles
import pytest
from auction_kit import Case, cases, seeded_case
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.clearing import clear
from mechanism.pricing import _externality
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.welfare import phi, priority, requests_after


def check_exactly(case: Case) -> None:
    outcome = clear(case.auction, DfsBid(), Vcg())
    order = outcome.order.tolist()
    assert order == oracles.best_dfs(case.trie, case.bids)
    assert outcome.payments.tolist() == oracles.naive_vcg(case.trie, case.bids, case.users, case.num_users, order)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=2000, deadline=None)
def test_equals_the_naive_recomputation_exactly(seed: int) -> None:
    check_exactly(seeded_case(seed))


@given(cases(), st.sampled_from([1, 3, 1 << 16]))
@settings(max_examples=200, deadline=None)
def test_equals_it_however_the_pairs_are_portioned(case: Case, portion: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_externality, "_PORTION", portion)
        check_exactly(case)


@given(cases())
@settings(max_examples=150, deadline=None)
def test_over_permutations_it_equals_the_naive_recomputation_on_a_star(case: Case) -> None:
    outcome = clear(case.auction, BidSort(), Vcg())
    star, order = list(range(len(case.rows))), outcome.order.tolist()
    assert outcome.payments.tolist() == oracles.naive_vcg(star, case.bids, case.users, case.num_users, order)


@given(cases(min_requests=2))
@settings(max_examples=150, deadline=None)
def test_nobody_is_paid_and_nobody_pays_more_than_he_declared(case: Case) -> None:
    auction = case.auction
    outcome = clear(auction, DfsBid(), Vcg())
    after = requests_after(outcome.order).tolist()
    for user, payment in enumerate(outcome.payments.tolist()):
        declared = sum(b * a for b, a, u in zip(case.bids, after, case.users, strict=True) if u == user)
        assert 0 <= payment * (len(after) - 1) <= declared
        if all(bid == 0 for bid, owner in zip(case.bids, case.users, strict=True) if owner == user):
            assert payment == 0


@given(cases(min_requests=2), st.data())
@settings(max_examples=100, deadline=None)
def test_utility_does_not_depend_on_how_ties_are_broken(case: Case, data: st.DataObject) -> None:
    """Relabel the arrivals: payments move where averages tie, Σ b·x − p does not."""
    moved = data.draw(st.permutations(range(len(case.rows))))
    again = Case([case.rows[r] for r in moved], [case.bids[r] for r in moved], [case.users[r] for r in moved])
    utilities = []
    for each in (case, again):
        outcome = clear(each.auction, DfsBid(), Vcg())
        users = [np.array(each.users) == user for user in range(case.num_users)]
        declared = [phi(np.where(mine, each.auction.bids, 0), outcome.order) for mine in users]
        utilities.append([d - p * (len(moved) - 1) for d, p in zip(declared, outcome.payments, strict=True)])
    assert utilities[0] == utilities[1]


@given(cases(min_requests=2, max_requests=12), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_floats_of_any_scale_stay_near_the_fractions(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bids = 10 ** rng.uniform(-12, 12, len(case.rows)) * (rng.random(len(case.rows)) < 0.8)
    exact = Case(case.rows, [oracles.Fraction(bid) for bid in bids.tolist()], case.users)
    order = DfsBid().order(exact.auction)
    floats = Case(case.rows, bids.tolist(), case.users).auction  # type: ignore[arg-type]
    found, want = Vcg().charge(floats, order), Vcg().charge(exact.auction, order).astype(np.float64)
    declared = np.zeros(case.num_users)
    np.add.at(declared, floats.users, floats.bids * priority(order))
    assert np.all(np.abs(found - want) <= 1e-13 * declared)
    assert np.all(found >= 0)
    assert np.all(found <= declared * (1 + 1e-15))

"""Average-bid DFS is the best depth-first schedule, and at least half of the best order of all."""

import itertools
from fractions import Fraction

import oracles
from auction_kit import Case, cases
from hypothesis import given, settings

from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.dfs_uniform import DfsUniform


@given(cases(max_requests=5))
@settings(max_examples=100, deadline=None)
def test_brute_force_finds_nothing_better(case: Case) -> None:
    auction = case.auction
    best = max(oracles.phi(case.bids, order) for order in oracles.all_dfs(case.trie))
    assert oracles.phi(case.bids, DfsBid().order(auction).tolist()) == best
    best = max(oracles.phi(case.bids, order) for order in itertools.permutations(range(len(case.rows))))
    assert oracles.phi(case.bids, BidSort().order(auction).tolist()) == best


@given(cases(min_requests=2))
@settings(max_examples=100, deadline=None)
def test_half_of_the_unconstrained_optimum(case: Case) -> None:
    auction = case.auction
    found, best = (oracles.phi(case.bids, rule.order(auction).tolist()) for rule in (DfsBid(), BidSort()))
    assert found <= best <= 2 * found


@given(cases())
@settings(max_examples=100, deadline=None)
def test_uniform_is_average_bid_with_equal_bids(case: Case) -> None:
    equal = [Fraction(1)] * len(case.rows)
    assert DfsUniform().order(case.auction).tolist() == oracles.best_dfs(case.trie, equal)

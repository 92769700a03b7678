"""Theorem 4.4, the exact loss and the pair bound against their definitions, in exact rationals."""

import itertools
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kappa_oracle import Priced, drawn

from mechanism.bounds import WelfareBound, welfare_bound
from mechanism.inversions import Siblings, largest_inversions, losses_by_overtaken
from mechanism.pacing_loss import pacing_losses
from mechanism.pair_bound import allowed_by_pairs
from mechanism.prompts import Prompts
from mechanism.radix_tree import RadixTree, build_tree

SEEDS = st.integers(0, 2**32 - 1)


def exact(case: Priced) -> tuple[RadixTree, np.ndarray, np.ndarray]:
    return build_tree(Prompts.from_lists(case.rows)), *(np.array(x, dtype=object) for x in (case.bids, case.values))


def below(tree: RadixTree, vertex: int) -> frozenset[int]:
    if vertex >= tree.num_nodes:
        return frozenset([int(tree.leaves[vertex - tree.num_nodes])])
    return frozenset(tree.leaves[tree.start[vertex] : tree.stop[vertex]].tolist())


def by_node(tree: RadixTree, found: WelfareBound, numbers: np.ndarray) -> dict[frozenset[int], object]:
    return {below(tree, node): number for node, number in zip(found.node.tolist(), numbers, strict=True)}


def check_definitions(case: Priced) -> None:
    tree, bids, values = exact(case)
    found = welfare_bound(tree, bids, values)
    allowed = allowed_by_pairs(Siblings.of(tree, bids, values))[found.node]
    families = {frozenset(itertools.chain(*family)): family for family in case.families}
    for numbers, definition in (
        (found.omega, case.omega),
        (found.inverse_kappa, case.inverse_kappa),
        (found.lost, case.lost),
        (allowed, case.allowed_by_pairs),
    ):
        assert by_node(tree, found, numbers) == {name: definition(family) for name, family in families.items()}
    assert found.ratio == case.ratio()
    assert found.bound == case.bound()


def check_order(case: Priced) -> None:
    tree, bids, values = exact(case)
    found = welfare_bound(tree, bids, values)
    allowed = allowed_by_pairs(Siblings.of(tree, bids, values))[found.node]
    assert all(found.lost <= allowed)  # the pair bound holds, node by node
    assert all(allowed <= found.allowed)  # and is never weaker than κ
    assert 0 <= found.simple_bound <= found.bound <= found.ratio <= 1 or not found.total


def naive_failures(seeds: range) -> int:
    """How often the paper's convention is wrong where multipliers are 0 or 1; ours must never be."""
    broken = 0
    for seed in seeds:
        case = drawn(seed, alphas=[Fraction(0), Fraction(1)])
        found = welfare_bound(*exact(case))
        assert found.bound <= found.ratio
        broken += case.bound(naive=True) > found.ratio
    return broken


def test_every_quantity_equals_its_definition() -> None:
    for seed in range(1000):
        check_definitions(drawn(seed))


def test_the_bounds_hold_and_stand_in_order() -> None:
    for seed in range(800):
        check_order(drawn(seed, most=10))


def test_zero_bids_break_the_naive_convention_and_not_ours() -> None:
    """CASES.md H: hundreds of counter-examples in thousands."""
    assert naive_failures(range(600)) > 20


@pytest.mark.slow
def test_tens_of_thousands_more() -> None:
    for seed in range(10_000, 20_000):
        check_definitions(drawn(seed))
        check_order(drawn(seed, most=14))
    assert naive_failures(range(6000)) > 200


@given(SEEDS)
@settings(max_examples=150, deadline=None)
def test_inversions_are_all_pairs_served_in_the_wrong_order(seed: int) -> None:
    case = drawn(seed)
    tree, bids, values = exact(case)
    siblings = Siblings.of(tree, bids, values)
    lost, number = losses_by_overtaken(siblings)
    pairs = [pair for family in case.families for pair in case.inversions(family)]
    want: dict[frozenset[int], list[Fraction]] = {below(tree, vertex): [] for vertex in siblings.vertex.tolist()}
    for _, later, loss in pairs:
        want[frozenset(later)].append(loss)
    names = [below(tree, vertex) for vertex in siblings.vertex.tolist()]
    assert lost.tolist() == [sum(want[name]) for name in names]
    assert number.tolist() == [len(want[name]) for name in names]
    found = largest_inversions(siblings, lost, limit=len(pairs))
    told = sorted((sorted(below(tree, p.ahead)), sorted(below(tree, p.behind)), Fraction(p.lost)) for p in found)
    assert [(a, b, float(loss)) for a, b, loss in told] == sorted((sorted(j), sorted(i), float(x)) for j, i, x in pairs)
    assert [pair.lost for pair in found] == sorted((float(loss) for *_, loss in pairs), reverse=True)


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_a_users_cost_is_what_his_median_pacing_would_win(seed: int) -> None:
    case = drawn(seed)
    tree, bids, values = exact(case)
    owners = np.array(case.users, dtype=np.int64)
    who, costs = pacing_losses(tree, bids, values, owners, 4, limit=4)
    now = oracles.phi(case.values, case.served)
    worth = {user: [r for r, owner in enumerate(case.users) if owner == user] for user in range(4)}
    paced = sorted(
        (case.said(mine) / case.worth(mine), case.worth(mine)) for mine in worth.values() if case.worth(mine)
    )
    half = [m for k, (m, _) in enumerate(paced) if 2 * sum(v for _, v in paced[: k + 1]) >= sum(case.values)]
    median = half[0] if half else Fraction(0)
    for user, cost in zip(who.tolist(), costs, strict=True):
        said = [median * case.values[r] if owner == user else case.bids[r] for r, owner in enumerate(case.users)]
        assert cost == oracles.phi(case.values, oracles.best_dfs(case.trie, said)) - now
    left = set(range(4)) - set(who.tolist())
    assert all(case.bids[r] == median * case.values[r] for user in left for r in worth[user])


@given(SEEDS, SEEDS)
@settings(max_examples=150, deadline=None)
def test_floats_of_any_scale_stay_near_the_fractions(seed: int, scale: int) -> None:
    rng = np.random.default_rng(scale)
    rows = drawn(seed, most=12).rows
    n = len(rows)
    values = 10 ** rng.uniform(-9, 9, n) * (rng.random(n) < 0.85)
    bids = values * 10 ** rng.uniform(-2, 2, n) * (rng.random(n) < 0.9)
    tree = build_tree(Prompts.from_lists(rows))
    found = welfare_bound(tree, bids, values)
    fractions = (np.array([Fraction(x) for x in each.tolist()], dtype=object) for each in (bids, values))
    want = welfare_bound(tree, *fractions)
    for name in ("ratio", "bound", "simple_bound"):
        assert getattr(found, name) == pytest.approx(float(getattr(want, name)), rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(found.omega, want.omega.astype(float), rtol=1e-14)
    np.testing.assert_allclose(found.kappa, want.kappa.astype(float), rtol=1e-14)
    assert found.bound <= found.ratio <= 1

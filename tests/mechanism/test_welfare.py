from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.prompts import Prompts
from mechanism.radix_tree import build_tree
from mechanism.welfare import (
    is_dfs_schedule,
    phi,
    priority,
    realised_priority,
    requests_after,
    unconstrained_optimum,
    welfare,
)


def test_priority_is_the_share_of_the_others_served_later() -> None:
    assert priority(np.array([2, 0, 1, 3])).tolist() == [2 / 3, 1 / 3, 1.0, 0.0]
    assert requests_after(np.array([2, 0, 1, 3])).tolist() == [2, 1, 3, 0]


def test_a_single_request_has_priority_one() -> None:
    assert priority(np.array([0])).tolist() == [1.0]
    assert welfare(np.array([7.0]), np.array([0])) == 7.0


def test_no_request_has_no_welfare() -> None:
    none = np.empty(0, dtype=np.int64)
    assert priority(none).tolist() == []
    assert (welfare(none.astype(float), none), unconstrained_optimum(none.astype(float))) == (0.0, 0.0)


def test_welfare_by_hand() -> None:
    values = np.array([10.0, 4.0, 1.0])
    assert welfare(values, np.array([1, 0, 2])) == 4 + 5
    assert phi(values, np.array([1, 0, 2])) == 18
    assert unconstrained_optimum(values) == 10 + 2


def test_phi_of_fractions_is_exact() -> None:
    values = np.array([Fraction(1, 3), Fraction(1, 7)], dtype=object)
    assert phi(values, np.array([1, 0])) == Fraction(1, 7)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_no_order_beats_the_unconstrained_optimum(values: list[float], random: st.DataObject) -> None:
    order = list(range(len(values)))
    random.shuffle(order)
    assert welfare(np.array(values), np.array(order)) <= unconstrained_optimum(np.array(values)) * (1 + 1e-12)


def test_dfs_schedules_keep_subtrees_together() -> None:
    tree = build_tree(Prompts.from_lists([[1, 1], [1, 2], [2]]))
    verdicts = {order: is_dfs_schedule(tree, np.array(order)) for order in [(0, 1, 2), (2, 1, 0), (0, 2, 1)]}
    assert verdicts == {(0, 1, 2): True, (2, 1, 0): True, (0, 2, 1): False}


class TestRealisedPriority:
    def test_ranks_by_first_token(self) -> None:
        assert realised_priority(np.array([30, 10, 20]), np.arange(3)).tolist() == [0.0, 1.0, 0.5]

    def test_ties_go_by_submission(self) -> None:
        assert realised_priority(np.array([10, 10, 10]), np.array([2, 0, 1])).tolist() == [0.0, 1.0, 0.5]

    def test_the_failed_rank_last_by_submission(self) -> None:
        ttft = np.array([np.inf, 5.0, np.inf, 7.0])
        assert realised_priority(ttft, np.arange(4)).tolist() == [1 / 3, 1.0, 0.0, 2 / 3]

    @pytest.mark.parametrize("names", [(0, 1), (-5, 1_000_000)])
    def test_cohorts_are_ranked_apart(self, names: tuple[int, int]) -> None:
        a, b = names
        found = realised_priority(np.array([4, 3, 2, 1]), np.arange(4), np.array([a, b, a, a]))
        assert found.tolist() == [0.0, 1.0, 0.5, 1.0]

    def test_nobody(self) -> None:
        none = np.empty(0, dtype=np.int64)
        assert realised_priority(none, none, none).tolist() == []
        assert realised_priority(none, none).tolist() == []

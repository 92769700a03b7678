"""The cost of one user's pacing, by hand."""

import numpy as np
import pytest

from mechanism.errors import MechanismError
from mechanism.pacing_loss import median_multiplier, pacing_losses
from mechanism.radix_tree import star_tree


def test_a_lone_shader_bears_the_whole_loss() -> None:
    """Values 5, 4, 2: user 0 halves his bid and falls behind the 4: Φ drops from 5·2 + 4 = 14 to 4·2 + 5 = 13."""
    values = np.array([5.0, 4.0, 2.0])
    who, costs = pacing_losses(star_tree(3), np.array([2.5, 4.0, 2.0]), values, np.array([0, 1, 1]), 2)
    assert (who.tolist(), costs.tolist()) == ([0], [1.0])


def test_uneven_pacing_may_undo_anothers() -> None:
    """The median multiplier is ½. Users 0 and 1 bid all of 4 and 3; alone at ½, user 0 would fall behind user 1."""
    values, bids = np.array([4.0, 3.0, 100.0]), np.array([4.0, 3.0, 50.0])
    who, costs = pacing_losses(star_tree(3), bids, values, np.arange(3), 3)
    assert (who.tolist(), costs.tolist()) == ([0, 1], [-1.0, 0.0])


def test_a_user_with_uneven_requests_is_found_though_his_total_is_the_median() -> None:
    values, bids = np.array([2.0, 3.0]), np.array([2.0, 0.5])
    who, costs = pacing_losses(star_tree(2), bids, values, np.zeros(2, np.int64), 1)
    assert (who.tolist(), costs.tolist()) == ([0], [1.0])


def test_at_most_so_many_users_the_most_unlike_first() -> None:
    values = np.array([10.0, 1.0, 1.0, 1.0])
    who, _ = pacing_losses(star_tree(4), np.array([10.0, 0.5, 0.0, 0.9]), values, np.arange(4), 4, limit=2)
    assert who.tolist() == [2, 1]


def test_without_value_there_is_no_multiplier() -> None:
    assert median_multiplier(np.ones(2), np.zeros(2)) == 0
    who, costs = pacing_losses(star_tree(2), np.ones(2), np.zeros(2), np.arange(2), 2)
    assert (who.tolist(), costs.tolist()) == ([0, 1], [0.0, 0.0])
    assert len(pacing_losses(star_tree(0), np.zeros(0), np.zeros(0), np.zeros(0, np.int64), 0)[0]) == 0


def test_unknown_users_are_refused() -> None:
    with pytest.raises(MechanismError, match="users must lie in 0 … 0"):
        pacing_losses(star_tree(2), np.ones(2), np.ones(2), np.array([0, 1]), 1)

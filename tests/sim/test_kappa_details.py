"""What stands beside the theorem, by hand on the tree of four."""

import pytest
from kappa_kit import FOUR, priced

from sim.kappa_details import UserPacing, examine, inverted_pairs


def test_the_pair_bound_lies_between_kappa_and_what_came() -> None:
    found = examine(priced(FOUR))
    assert found.allowed_by_pairs == pytest.approx([3.5 / 14, 1 / 14], rel=1e-15)
    assert found.pair_bound == pytest.approx(9.5 / 14, rel=1e-15)


def test_users_with_what_their_pacing_costs() -> None:
    """The median multiplier is 1: u2 at ½ and u4 at 2 are off. Either alone at 1 restores the order: 3/14 of 14/3."""
    found = examine(priced(FOUR))
    assert found.median_multiplier == 1
    assert found.users == (
        UserPacing(name="u1", num_requests=1, value=3, bid=3, cost=0),
        UserPacing(name="u2", num_requests=1, value=2, bid=1, cost=1),
        UserPacing(name="u3", num_requests=1, value=1, bid=1, cost=0),
        UserPacing(name="u4", num_requests=1, value=1, bid=2, cost=1),
    )


def test_of_many_users_those_most_unlike_the_median_are_priced() -> None:
    rows = [{"user": f"u{n}", "bid": n * 1.0, "value": 50.0 - n, "tokens": [n]} for n in range(1, 49)]
    costs = [user.cost for user in examine(priced(rows)).users]
    assert sum(cost is not None for cost in costs) == 32


def test_the_inverted_pair_is_named() -> None:
    """Request 4, worth 1, goes ahead of the three below 7, worth 2 on average: 6·1 − 1·3 = 3 of 14."""
    (pair,) = inverted_pairs(priced(FOUR))
    assert (pair.depth_tokens, pair.lost) == (0, 3 / 14)
    assert (pair.ahead.name, pair.ahead.user, pair.ahead.num_requests) == ("4", "u4", 1)
    assert (pair.ahead.average_value, pair.ahead.average_bid) == (1, 2)
    assert (pair.behind.name, pair.behind.user, pair.behind.num_requests) == (None, None, 3)
    assert (pair.behind.average_value, pair.behind.average_bid) == (2, 5 / 3)


def test_a_subtree_of_one_user_is_named_by_him() -> None:
    rows = [{**row, "user": "u1"} if row["tokens"][0] == 7 else row for row in FOUR]
    (pair,) = inverted_pairs(priced(rows))
    assert pair.behind.user == "u1"


@pytest.mark.parametrize("rows", [FOUR[:1], [{**row, "bid": row["value"]} for row in FOUR]])
def test_where_nothing_is_lost_nobody_costs_anything(rows: list) -> None:
    found = examine(priced(rows))
    assert found.pair_bound == 1
    assert {user.cost for user in found.users} == {0}
    assert inverted_pairs(found.found) == ()

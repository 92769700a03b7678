"""The virtual token counter against the textbook loop: serve the least counter, charge it, repeat."""

from dataclasses import replace

import numpy as np
from auction_kit import auction_of
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.scheduling.fair import Fair


def loop(users: list[int], tokens: list[int], served: list[int]) -> list[int]:
    counter, left, order = list(served), list(range(len(users))), []
    while left:
        heads = [next(r for r in left if users[r] == user) for user in {users[r] for r in left}]
        chosen = min(heads, key=lambda r: (counter[users[r]], r))
        counter[users[chosen]] += tokens[chosen]
        order.append(chosen)
        left.remove(chosen)
    return order


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=12),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_equals_the_loop(requests: list[tuple[int, int]], served: list[int]) -> None:
    users, tokens = [user for user, _ in requests], [count for _, count in requests]
    auction = auction_of([[r] for r in range(len(users))], [1.0] * len(users), users, 4)
    auction = replace(auction, prompt_tokens=np.array(tokens, dtype=np.int64), served_tokens=np.array(served))
    assert Fair().order(auction).tolist() == loop(users, tokens, served)


def test_users_take_turns_where_nothing_else_is_known() -> None:
    assert Fair().order(auction_of([[1], [2], [3], [4]], [1.0] * 4, [0, 0, 0, 1])).tolist() == [0, 3, 1, 2]

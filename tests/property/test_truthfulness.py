"""No user gains by misreporting, every lie of a small grid tried; under pay-as-bid somebody does."""

import itertools

import numpy as np
import pytest
from auction_kit import auction_of, token_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.clearing import clear
from mechanism.model import PricingRule, SchedulingRule
from mechanism.pricing.free import Free
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.welfare import priority

GRID = [0.0, 1.0, 2.0, 4.0, 9.0]


def best_gain(
    rows: list[list[int]],
    values: list[float],
    users: list[int],
    schedule: SchedulingRule,
    pricing: PricingRule,
) -> float:
    """The most that any user gains over the truth by any bids from the grid."""

    def utility(user: int, bids: list[float]) -> float:
        outcome = clear(auction_of(rows, bids, users), schedule, pricing)
        mine = np.array(users) == user
        return float((np.array(values) * priority(outcome.order))[mine].sum() - outcome.payments[user])

    gains = []
    for user in set(users):
        places = [place for place, owner in enumerate(users) if owner == user]
        for lie in itertools.product(GRID, repeat=len(places)):
            bids = list(values)
            for place, bid in zip(places, lie, strict=True):
                bids[place] = bid
            gains.append(utility(user, bids) - utility(user, values))
    return max(gains)


@given(st.data(), st.sampled_from([DfsBid(), BidSort()]))
@settings(max_examples=20, deadline=None)
def test_no_lie_pays_under_vcg(data: st.DataObject, schedule: SchedulingRule) -> None:
    rows = data.draw(token_rows.filter(lambda rows: 2 <= len(rows) <= 5))
    values = data.draw(st.lists(st.sampled_from(GRID), min_size=len(rows), max_size=len(rows)))
    users = [request // 2 for request in range(len(rows))]
    assert best_gain(rows, values, users, schedule, Vcg()) <= 1e-12


@pytest.mark.parametrize("pricing", [PayAsBid(), Free()])
def test_lies_pay_where_a_rule_is_not_truthful(pricing: PricingRule) -> None:
    assert not pricing.truthful
    assert best_gain([[1], [2], [3]], [4.0, 2.0, 1.0], [0, 1, 2], DfsBid(), pricing) > 0.1

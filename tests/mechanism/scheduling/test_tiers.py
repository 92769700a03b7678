import numpy as np
import pytest
from auction_kit import auction_of

from mechanism.clearing import clear
from mechanism.errors import MechanismError
from mechanism.pricing.posted_tiers import PostedTiers
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.tiers import Tiers

ROWS = [[1, 1], [2], [1, 2], [3], [1, 3]]
BIDS = [2.0, 9.0, 9.0, 0.0, 2.0]  # tiers 1, 0, 0, 2, 1 at prices 1 and 1/4


def test_faster_tiers_first_and_depth_first_inside() -> None:
    auction = auction_of(ROWS, BIDS)
    # Depth first by arrival: 0 2 4 (the family of 1), 1, 3. Tier 0 holds 2 and 1, tier 1 holds 0 and 4.
    assert Tiers(prices=(1.0, 0.25)).order(auction).tolist() == [2, 1, 0, 4, 3]
    assert Tiers(prices=(1.0, 0.25), within="arrival").order(auction).tolist() == [1, 2, 0, 4, 3]


def test_everyone_pays_the_price_of_his_tier() -> None:
    auction = auction_of(ROWS, BIDS, [0, 0, 1, 1, 2])
    outcome = clear(auction, Tiers(prices=(1.0, 0.25)), PostedTiers(prices=(1.0, 0.25)))
    assert outcome.payments.tolist() == [1.25, 1.0, 0.25]
    assert clear(auction_of([[1]], [50.0]), Tiers(), PostedTiers()).payments.tolist() == [0.0]


def test_prices_and_tiers_must_be_those_of_the_schedule() -> None:
    assert PostedTiers(tiers=2).defined_for(Tiers(tiers=2))
    assert not PostedTiers(tiers=2).defined_for(Tiers(tiers=3))
    assert not PostedTiers(prices=(1.0, 0.5)).defined_for(Tiers())
    assert not PostedTiers().defined_for(DfsBid())
    with pytest.raises(MechanismError):
        Tiers(tiers=2, prices=(1.0, 0.5))


def test_with_one_price_for_all_bids_do_not_matter() -> None:
    auction = auction_of(ROWS, BIDS)
    assert np.array_equal(Tiers(tiers=2, prices=(100.0,)).order(auction), [0, 2, 4, 1, 3])

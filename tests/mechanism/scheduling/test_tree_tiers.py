import numpy as np
import pytest
from auction_kit import auction_of, random_auctions

from mechanism.clearing import clear
from mechanism.errors import MechanismError
from mechanism.pricing.posted_tiers import PostedTiers
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.dfs_uniform import DfsUniform
from mechanism.scheduling.tiers import Tiers
from mechanism.scheduling.tree_tiers import TreeTiers
from mechanism.welfare import is_dfs_schedule

ROWS = [[1, 1], [2], [1, 2], [3], [1, 3]]
BIDS = [2.0, 9.0, 9.0, 0.0, 2.0]  # tiers 1, 0, 0, 2, 1 at prices 1 and 1/4


def test_no_tier_s_border_cuts_through_a_subtree() -> None:
    auction = auction_of(ROWS, BIDS)
    # Average tiers at the root: {1, 0, 1} = 2/3 below token 1, 0 for request 1, 2 for request 3. Below 1: tier 0 first.
    assert TreeTiers(prices=(1.0, 0.25)).order(auction).tolist() == [1, 2, 0, 4, 3]
    for auction in random_auctions(20, max_requests=12, seed=3):
        assert is_dfs_schedule(auction.tree, TreeTiers().order(auction))


def test_everyone_pays_for_the_tier_he_chose() -> None:
    auction = auction_of(ROWS, BIDS, [0, 0, 1, 1, 2])
    outcome = clear(auction, TreeTiers(prices=(1.0, 0.25)), PostedTiers(prices=(1.0, 0.25)))
    assert outcome.payments.tolist() == [1.25, 1.0, 0.25]
    assert not PostedTiers(tiers=2).defined_for(TreeTiers())
    with pytest.raises(MechanismError):
        TreeTiers(tiers=1)


def test_evenly_spaced_thresholds_are_average_bids_rounded_down() -> None:
    # Tier q of k is worth its price from b/k = p_q − p_(q+1) on: thresholds 1, 2, … take price steps 1/k, 2/k, …
    k = 12
    prices = tuple(np.cumsum(np.arange(1, k) / k)[::-1].tolist())
    for auction in random_auctions(20, max_requests=12, seed=4):
        rng = np.random.default_rng(len(auction))
        bids = rng.integers(0, k, len(auction)) + 0.5
        fine = auction_like(auction, bids)
        rounded = auction_like(auction, np.floor(bids))
        assert TreeTiers(tiers=k, prices=prices).order(fine).tolist() == DfsBid().order(rounded).tolist()


def auction_like(auction, bids):  # type: ignore[no-untyped-def]
    return type(auction)(tree=auction.tree, bids=bids, users=auction.users, num_users=auction.num_users)


def test_it_is_not_tiers_and_one_price_for_all_is_arrival_order() -> None:
    auction = auction_of(ROWS, BIDS)
    assert not np.array_equal(TreeTiers(prices=(1.0, 0.25)).order(auction), Tiers(prices=(1.0, 0.25)).order(auction))
    dear = TreeTiers(tiers=2, prices=(100.0,))
    assert np.array_equal(dear.order(auction), DfsUniform().order(auction))

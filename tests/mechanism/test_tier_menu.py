import numpy as np
import pytest

from mechanism.errors import MechanismError
from mechanism.tier_menu import TierMenu


def test_default_prices_fill_the_tiers_evenly_for_the_papers_values() -> None:
    # A value v of 1 + Pareto(1.5) is exceeded with probability v^(−3/2): take the quantiles themselves.
    share_above = (np.arange(3000) + 0.5) / 3000
    values = share_above ** (-1 / 1.5)
    for tiers in (2, 3, 5):
        sizes = np.bincount(TierMenu.of(tiers, None).choose(values), minlength=tiers)
        assert sizes == pytest.approx(np.full(tiers, 3000 / tiers), abs=1)


def test_a_request_takes_the_tier_it_values_most() -> None:
    # Expected priorities 5/6, 1/2, 1/6: tier 0 instead of 1 costs 3/4 more and is worth a third of the bid, so it is
    # taken above 9/4; tier 1 instead of 2 above 3/4.
    menu = TierMenu.of(3, [1.0, 0.25])
    assert menu.expected_priority.tolist() == pytest.approx([5 / 6, 1 / 2, 1 / 6])
    assert menu.choose(np.array([3.0, 2.0, 0.5, 0.0])).tolist() == [0, 1, 2, 2]


def test_higher_bids_are_never_in_slower_tiers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        prices = -np.sort(-rng.uniform(0, 3, rng.integers(1, 6)))
        tier = TierMenu.of(len(prices) + 1, prices.tolist()).choose(np.sort(rng.pareto(1.5, 30)))
        assert np.all(np.diff(tier) <= 0)


@pytest.mark.parametrize(
    ("tiers", "prices"), [(1, None), (3, [1.0]), (2, [-1.0]), (3, [1.0, 2.0]), (2, [float("inf")]), (2, [float("nan")])]
)
def test_a_menu_that_makes_no_sense_is_refused(tiers: int, prices: list[float] | None) -> None:
    with pytest.raises(MechanismError):
        TierMenu.of(tiers, prices)

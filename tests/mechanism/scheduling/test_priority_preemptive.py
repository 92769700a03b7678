import numpy as np
import pytest
from auction_kit import auction_of

from mechanism.errors import MechanismError
from mechanism.model import SetsPriorities
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.priority_preemptive import PriorityPreemptive

ROWS = [[1], [2], [3], [4]]


def test_bids_become_integers_by_rounding_down() -> None:
    bids = np.array([0.0, 0.049, 0.05, 1.0, 1.099])
    assert PriorityPreemptive(scale=20.0).priorities(bids).tolist() == [0, 0, 1, 20, 21]
    assert PriorityPreemptive(scale=20.0).priorities(bids).dtype == np.int64


def test_a_bid_beyond_every_integer_is_the_largest_priority() -> None:
    bids = np.array([1e300, 1e308, 2.0**53])
    assert PriorityPreemptive(scale=100.0).priorities(bids).tolist() == [2**53] * 3


def test_larger_first_and_equal_ones_by_arrival() -> None:
    auction = auction_of(ROWS, [1.04, 1.0, 1.09, 3.0])
    assert PriorityPreemptive().order(auction).tolist() == [3, 0, 1, 2]  # 10 10 10 30
    assert PriorityPreemptive(scale=100.0).order(auction).tolist() == BidSort().order(auction).tolist()


def test_the_server_is_told_when_to_preempt() -> None:
    assert PriorityPreemptive().preempts_above == 10
    assert PriorityPreemptive(threshold=0).preempts_above == 0
    assert PriorityPreemptive(preempt=False).preempts_above is None
    assert isinstance(PriorityPreemptive(), SetsPriorities)
    assert not isinstance(BidSort(), SetsPriorities)


@pytest.mark.parametrize(("parameters", "message"), [({"scale": 0.0}, "above 0"), ({"threshold": -1}, "at least 0")])
def test_what_makes_no_priorities_is_refused(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(MechanismError, match=message):
        PriorityPreemptive(**parameters)  # type: ignore[arg-type]

import numpy as np
import pytest

from mechanism.bidding.from_trace import FromTrace
from mechanism.bidding.shading import Shading
from mechanism.bidding.truthful import Truthful
from mechanism.errors import MechanismError

VALUES, STATED, USERS = np.array([1.0, 2.0]), np.array([0.0, 9.0]), np.array([0, 1])


def test_the_truthful_bid_their_values() -> None:
    assert Truthful().bid(VALUES, STATED, USERS).tolist() == [1.0, 2.0]


def test_a_trace_bids_what_it_says() -> None:
    assert FromTrace().bid(VALUES, STATED, USERS).tolist() == [0.0, 9.0]


def test_shading_bids_a_share() -> None:
    shading = Shading(factor=0.25)
    assert shading.bid(VALUES, STATED, USERS).tolist() == [0.25, 0.5]
    assert shading.settle(USERS, VALUES).multiplier.tolist() == [0.25, 0.25]
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(MechanismError):
            Shading(factor=wrong)

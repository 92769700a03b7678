import numpy as np

from mechanism.bidding.from_trace import FromTrace
from mechanism.bidding.truthful import Truthful

VALUES, STATED = np.array([1.0, 2.0]), np.array([0.0, 9.0])


def test_the_truthful_bid_their_values() -> None:
    assert Truthful().bid(VALUES, STATED).tolist() == [1.0, 2.0]


def test_a_trace_bids_what_it_says() -> None:
    assert FromTrace().bid(VALUES, STATED).tolist() == [0.0, 9.0]

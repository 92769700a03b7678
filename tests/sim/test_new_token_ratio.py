"""The ratio falls as the server's does, one subtraction a pass."""

from __future__ import annotations

import pytest

from sim.new_token_ratio import NewTokenRatio


@pytest.mark.parametrize("conservativeness", [0.0, 0.05, 0.3, 1.0, 2.0])
def test_jumps_equal_single_steps_bit_for_bit(conservativeness: float) -> None:
    initial = min(0.7 * conservativeness, 1.0)
    floor = initial * 0.14
    step, expected = (initial - floor) / 600, initial
    stepped, jumped = NewTokenRatio(conservativeness), NewTokenRatio(conservativeness)
    for passes in range(1, 700):
        expected = max(expected - step, floor)
        stepped.decay()
        assert stepped.value == expected
        if passes % 7 == 0:
            jumped.decay(7)
            assert jumped.value == expected


def test_a_retraction_raises_it_and_idling_resets_it() -> None:
    ratio = NewTokenRatio(1.0)
    ratio.decay(100)
    ratio.set(0.9)
    assert ratio.value == 0.9
    ratio.decay()
    assert ratio.value == 0.9 - (0.7 - 0.7 * 0.14) / 600
    ratio.set(1.3)
    assert ratio.value == 1.0
    ratio.set(0.01)  # below the floor: the next pass lifts it there
    ratio.decay()
    assert ratio.value == 0.7 * 0.14
    ratio.reset()
    assert ratio.value == 0.7

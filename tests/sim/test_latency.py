import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.latency import LatencyModel

H100_QWEN3_32B = LatencyModel(
    weights_ms=27.6943,
    token_ms=0.09602,
    knee=2.3821,
    attention_ms=3.452e-06,
    decode_base_ms=24.6479,
    decode_request_ms=0.02664,
    context_ms=9.03e-05,
)


def test_a_prefill_of_one_token_takes_the_weights_and_the_overhead() -> None:
    # (27.6943^p + 0.09602^p)^(1/p) differs from 27.6943 by less than a microsecond's thousandth of a ms.
    assert H100_QWEN3_32B.prefill_ns(1, 0.5) == pytest.approx(28.6943e6, rel=1e-4)


def test_a_long_prefill_is_arithmetic() -> None:
    # 8192 tokens: g·T = 786.6 ms, the weights add 0.03 % through the norm; attention 8192²/2 · 3.452e-6 = 115.8 ms.
    assert H100_QWEN3_32B.prefill_ns(8192, 8192**2 / 2) == pytest.approx((786.6 + 115.8 + 1.0) * 1e6, rel=2e-3)


@pytest.mark.parametrize(("batch", "context", "table_ms"), [(1, 256, 24.9411), (1, 1024, 25.0313), (1, 4096, 25.1433)])
def test_decode_agrees_with_the_tables_it_was_fitted_to(batch: int, context: int, table_ms: float) -> None:
    gpu_ms = H100_QWEN3_32B.decode_ns(batch, context) / 1e6 - 1.0
    assert gpu_ms == pytest.approx(table_ms, rel=0.025)


@given(
    batch=st.integers(1, 256),
    context=st.integers(0, 100_000),
    steps=st.integers(1, 2000),
)
@settings(max_examples=200, deadline=None)
def test_many_steps_in_closed_form_equal_the_sum_of_single_steps(batch: int, context: int, steps: int) -> None:
    model = H100_QWEN3_32B
    singly = math.fsum(model.decode_ns(batch, context + j * batch) for j in range(steps))
    assert abs(model.decode_ns(batch, context, steps) - singly) <= steps / 2 + 1  # each single step rounds once


@given(elapsed=st.integers(1, 10**11), at_most=st.integers(1, 4096))
@settings(max_examples=200, deadline=None)
def test_decode_steps_is_the_smallest_that_covers_the_time(elapsed: int, at_most: int) -> None:
    step = H100_QWEN3_32B.decode_steps(7, 5000, elapsed, at_most)
    assert 1 <= step <= at_most
    assert step == at_most or H100_QWEN3_32B.decode_ns(7, 5000, step) >= elapsed
    assert step == 1 or H100_QWEN3_32B.decode_ns(7, 5000, step - 1) < elapsed

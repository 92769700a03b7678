"""Known coefficients, the times they make with noise, and the coefficients fitted to these."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from sim.fitting import UnidentifiedError
from sim.latency_fit import DecodePoint, PrefillPoint, fit_latency, predict_decode_ms, predict_prefill_ms

TRUE = {
    "weights_ms": 20.0, "token_ms": 0.09, "knee": 2.2, "attention_ms": 3.5e-6, "prefill_overhead_ms": 2.0,
    "request_overhead_ms": 0.0, "decode_base_ms": 19.0, "decode_request_ms": 0.033, "context_ms": 6e-5,
}  # fmt: skip
NEW = [(tokens, 0) for tokens in (16, 40, 100, 250, 600, 1500, 4096, 8192, 12288, 24000)]
BEHIND = [(tokens, cached) for tokens in (16, 300, 4000) for cached in (512, 4096, 16000)]


def prefills(noise: float, seed: int, places=(*NEW, *BEHIND), true=TRUE):  # type: ignore[no-untyped-def]
    points = [
        PrefillPoint(new_tokens=new, cached_tokens=cached, chunk_tokens=4096, ttft_ms=1.0) for new, cached in places
    ]
    noisy = predict_prefill_ms(true, points) * (1 + noise * np.random.default_rng(seed).standard_normal(len(points)))
    return [replace(point, ttft_ms=float(ms)) for point, ms in zip(points, noisy, strict=True)]


def decodes(noise: float, seed: int, sizes=(1, 4, 16, 64)):  # type: ignore[no-untyped-def]
    points = [
        DecodePoint(num_requests=size, context_tokens=size * each, step_ms=1.0)
        for size in sizes
        for each in (64, 256, 1024)
    ]
    noisy = predict_decode_ms(TRUE, points) * (1 + noise * np.random.default_rng(seed).standard_normal(len(points)))
    return [replace(point, step_ms=float(ms)) for point, ms in zip(points, noisy, strict=True)]


def test_a_prompt_of_two_passes_by_hand() -> None:
    point = PrefillPoint(new_tokens=30, cached_tokens=10, chunk_tokens=20, ttft_ms=1.0)
    assert (point.full_passes, point.last_tokens) == (1, 10)
    # first pass 20 behind 10: 20·(10 + 10) = 400; second 10 behind 30: 10·(30 + 5) = 350; together 30·(10 + 15)
    assert point.attention_work == 400 + 350
    given = {
        "weights_ms": 3.0, "token_ms": 0.2, "knee": 2.0, "attention_ms": 0.01, "prefill_overhead_ms": 1.0,
        "request_overhead_ms": 5.0,
    }  # fmt: skip
    by_hand = 5 + (1 + 5.0) + (1 + math.sqrt(9 + 4)) + 7.5  # √(3² + (0.2·20)²) = 5
    assert predict_prefill_ms(given, [point])[0] == pytest.approx(by_hand)


def test_exact_times_give_the_coefficients_back() -> None:
    fit = fit_latency(prefills(0.0, 0), decodes(0.0, 0))
    for name, truth in TRUE.items():
        if truth:
            assert getattr(fit.latency, name) == pytest.approx(truth, rel=1e-3), name


def test_with_noise_intervals_cover_what_made_the_data() -> None:
    covered, told = 0, 0
    for seed in range(8):
        fit = fit_latency(prefills(0.01, seed), decodes(0.01, 100 + seed))
        told += len(fit.intervals)
        covered += sum(low <= TRUE[name] <= high for name, (low, high) in fit.intervals.items())
    assert told >= 8 * 7
    assert covered >= 0.85 * told  # of 90 % intervals


def test_prompts_of_one_pass_cannot_tell_request_from_pass() -> None:
    short = [place for place in (*NEW, *BEHIND) if place[0] < 4096]
    fit = fit_latency(prefills(0.0, 0, short, {**TRUE, "request_overhead_ms": 4.0}), decodes(0.0, 0))
    assert fit.latency.request_overhead_ms == 0.0
    assert "request_overhead_ms" in fit.unidentified
    assert "request_overhead_ms" not in fit.intervals
    # the sum is right all the same
    assert fit.latency.prefill_overhead_ms + fit.latency.weights_ms == pytest.approx(26.0, rel=1e-2)


def test_what_the_servers_timestamps_say_is_taken_as_given() -> None:
    short = [place for place in (*NEW, *BEHIND) if place[0] < 4096]
    measured = prefills(0.0, 0, short, {**TRUE, "request_overhead_ms": 4.0})
    fit = fit_latency(measured, decodes(0.0, 0), {"request_overhead_ms": 4.0, "request_gap_ms": 0.25})
    assert (fit.latency.request_overhead_ms, fit.latency.request_gap_ms) == (4.0, 0.25)
    assert not {"request_overhead_ms", "request_gap_ms"} & (set(fit.unidentified) | set(fit.intervals))
    ours = predict_prefill_ms(asdict(fit.latency), measured)
    assert ours == pytest.approx([point.ttft_ms for point in measured], rel=0.02)


def test_the_request_overhead_is_found_where_prompts_take_several_passes() -> None:
    fit = fit_latency(prefills(0.0, 0, true={**TRUE, "request_overhead_ms": 4.0}), decodes(0.0, 0))
    assert fit.latency.request_overhead_ms == pytest.approx(4.0, rel=1e-2)


def test_one_batch_size_does_not_price_a_request() -> None:
    fit = fit_latency(prefills(0.01, 1), decodes(0.01, 1, sizes=(4,)))
    assert fit.latency.decode_request_ms == 0.0
    assert "decode_request_ms" in fit.unidentified


def test_the_decode_overhead_is_said_to_be_part_of_the_base() -> None:
    fit = fit_latency(prefills(0.0, 0), decodes(0.0, 0))
    assert fit.latency.decode_overhead_ms == 0.0
    assert "sum" in fit.unidentified["decode_overhead_ms"]


def test_three_points_fit_what_three_points_can() -> None:
    fit = fit_latency(prefills(0.0, 0, [(16, 0), (4000, 0), (8000, 0)]), decodes(0.0, 0)[:2])
    assert {"request_overhead_ms", "prefill_overhead_ms", "attention_ms", "knee"} <= set(fit.unidentified)
    assert {"context_ms", "decode_request_ms"} <= set(fit.unidentified)


def test_without_decoding_there_is_no_model() -> None:
    with pytest.raises(UnidentifiedError, match="decode_base_ms"):
        fit_latency(prefills(0.0, 0), [])

"""From measured passes to the coefficients of the latency model (`sim.latency`).

One prompt of T new tokens behind a cached prefix takes, in ms from send to first token,

    c + Σ over its passes of [ o + (w^p + (g·t)^p)^(1/p) + a·A ]

with t new tokens a pass, at most the server's chunk, and A = Σ new·(prefix + new/2); c is paid once a request, o once
a pass: prompts of several passes tell them apart, or c is given by a server that dates what it does. One step of B
decoding requests with K tokens of context in all takes d0 + d1·B + d2·K; the host's part of it is in d0, for nothing
tells these two apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechanism.prompts import FloatArray
from sim.fitting import Fitted, Parameter, fit_relative
from sim.latency import LatencyModel

__all__ = ["DecodePoint", "LatencyFit", "PrefillPoint", "fit_latency", "predict_decode_ms", "predict_prefill_ms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillPoint:
    """One prompt alone in the engine: `new_tokens` behind `cached_tokens`, in passes of at most `chunk_tokens`."""

    new_tokens: int
    cached_tokens: int
    chunk_tokens: int | None
    ttft_ms: float

    @property
    def full_passes(self) -> int:
        """Passes before the last."""
        return 0 if self.chunk_tokens is None else (self.new_tokens - 1) // self.chunk_tokens

    @property
    def last_tokens(self) -> int:
        """New tokens of the last pass."""
        return self.new_tokens - self.full_passes * (self.chunk_tokens or 0)

    @property
    def attention_work(self) -> float:
        """Σ new·(prefix + new/2) over its passes, which is the same for any chunk."""
        return self.new_tokens * (self.cached_tokens + self.new_tokens / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodePoint:
    """Requests that decoded together: how many, Σ of their context in the middle of it, and the mean step."""

    num_requests: int
    context_tokens: float
    step_ms: float


@dataclass(frozen=True, slots=True)
class LatencyFit:
    """The fitted model, intervals of its coefficients, and why some were not fitted."""

    latency: LatencyModel
    intervals: dict[str, tuple[float, float]]
    unidentified: dict[str, str]


def fit_latency(
    prefills: Sequence[PrefillPoint], decodes: Sequence[DecodePoint], front_end: Mapping[str, float] | None = None
) -> LatencyFit:
    """Fit both halves of the model; UnidentifiedError where one of them cannot be fitted at all.

    `front_end` holds request_overhead_ms and request_gap_ms where they were measured by themselves.
    """
    given = dict(front_end or {})
    prefill, decode = _fit_prefill(prefills, given.get("request_overhead_ms")), _fit_decode(decodes)
    latency = LatencyModel(**{**prefill.values, **decode.values, **given}, decode_overhead_ms=0.0)
    held = {
        "decode_overhead_ms": "enters only in a sum with decode_base_ms; the sum is decode_base_ms, this is held at 0"
    }
    if "request_gap_ms" not in given:
        held["request_gap_ms"] = "the server does not date its first tokens; held at 0"
    return LatencyFit(
        latency,
        {**prefill.intervals, **decode.intervals},
        {**prefill.unidentified, **decode.unidentified, **held},
    )


def predict_prefill_ms(coefficients: Mapping[str, float], points: Sequence[PrefillPoint]) -> FloatArray:
    """(n,) TTFT of every point, ms."""
    full = np.array([point.full_passes for point in points], dtype=np.float64)
    chunk = np.array([point.chunk_tokens or 1 for point in points], dtype=np.float64)
    last = np.array([point.last_tokens for point in points], dtype=np.float64)
    work = np.array([point.attention_work for point in points], dtype=np.float64)
    weights, token, knee = (coefficients[name] for name in ("weights_ms", "token_ms", "knee"))

    def compute(tokens: FloatArray) -> FloatArray:
        largest = np.maximum(weights, token * tokens)  # taken out, so that no power overflows
        safe = np.where(largest > 0, largest, 1.0)
        return largest * ((weights / safe) ** knee + (token * tokens / safe) ** knee) ** (1 / knee)

    passes = full * compute(chunk) + compute(last) + coefficients["prefill_overhead_ms"] * (full + 1)
    total: FloatArray = passes + coefficients["request_overhead_ms"] + coefficients["attention_ms"] * work
    return total


def predict_decode_ms(coefficients: Mapping[str, float], points: Sequence[DecodePoint]) -> FloatArray:
    """(n,) mean step of every point, ms."""
    size = np.array([point.num_requests for point in points], dtype=np.float64)
    context = np.array([point.context_tokens for point in points], dtype=np.float64)
    base, request, token = (coefficients[name] for name in ("decode_base_ms", "decode_request_ms", "context_ms"))
    total: FloatArray = base + request * size + token * context
    return total


def _fit_prefill(points: Sequence[PrefillPoint], request_ms: float | None) -> Fitted:
    measured = np.array([point.ttft_ms for point in points])
    tokens = np.array([point.new_tokens for point in points], dtype=np.float64)
    least, slope = (float(measured.min()), float((measured / tokens).min())) if len(points) else (1.0, 1.0)
    work = max((point.attention_work for point in points), default=1.0)
    overhead = Parameter(name="request_overhead_ms", start=0.05 * least)
    parameters = (
        *(() if request_ms is not None else (overhead,)),
        Parameter(name="prefill_overhead_ms", start=0.05 * least),
        Parameter(name="attention_ms", start=0.1 * float(measured.max(initial=1.0)) / work),
        Parameter(name="knee", start=2.0, least=1.0, most=20.0, neutral=2.0),
        Parameter(name="weights_ms", start=0.8 * least, neutral=None),
        Parameter(name="token_ms", start=0.8 * slope, neutral=None),
    )
    given = {} if request_ms is None else {"request_overhead_ms": request_ms}
    return fit_relative(lambda values: predict_prefill_ms({**values, **given}, points), measured, parameters)


def _fit_decode(points: Sequence[DecodePoint]) -> Fitted:
    measured = np.array([point.step_ms for point in points])
    least = float(measured.min()) if len(points) else 1.0
    size = max((point.num_requests for point in points), default=1)
    context = max((point.context_tokens for point in points), default=1.0)
    parameters = (
        Parameter(name="context_ms", start=0.1 * least / context),
        Parameter(name="decode_request_ms", start=0.1 * least / size),
        Parameter(name="decode_base_ms", start=0.9 * least, neutral=None),
    )
    return fit_relative(lambda values: predict_decode_ms(values, points), measured, parameters)

"""How long one engine pass takes: the iteration-time model and the profiles that hold its coefficients.

With T new prefill tokens (plus decode requests of a mixed pass), attention work A = Σ new·(prefix + new/2),
B decode requests and K = Σ of their context tokens, a pass takes, in ms of accelerator time,

    prefill   (w^p + (g·T)^p)^(1/p) + a·A + d2·K
    decode    d0 + d1·B + d2·K

plus a host overhead per pass; and every request, once, the time between its client and the engine, in which the
accelerator may serve others, and which answers of one instant go one after another. The p-norm is a soft maximum of
the weights' memory traffic w and the arithmetic g·T: a straight line through both misses by up to a third near the
knee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sim.clock import NS_PER_MS

__all__ = ["LatencyModel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyModel:
    """Coefficients of the iteration-time model, all ≥ 0.

    Attributes
    ----------
    weights_ms : w, the time to read the weights once.
    token_ms : g, arithmetic per new token.
    knee : p ≥ 1, sharpness of the transition between the two.
    attention_ms : a, per unit of attention work A (token²).
    decode_base_ms, decode_request_ms : d0 and d1.
    context_ms : d2, per resident context token of a decode request.
    prefill_overhead_ms, decode_overhead_ms : host time per pass, 1.0 until calibrated.
    request_overhead_ms : from the client to the engine and back, once a request; 0 until calibrated.
    request_gap_ms : between two answers that leave the engine at one instant; 0 until calibrated.
    """

    weights_ms: float
    token_ms: float
    knee: float
    attention_ms: float
    decode_base_ms: float
    decode_request_ms: float
    context_ms: float
    prefill_overhead_ms: float = 1.0
    decode_overhead_ms: float = 1.0
    request_overhead_ms: float = 0.0
    request_gap_ms: float = 0.0

    @property
    def request_ns(self) -> int:
        """What a client waits beyond the passes, ns."""
        return round(self.request_overhead_ms * NS_PER_MS)

    @property
    def gap_ns(self) -> int:
        """Between two answers that leave the engine at one instant, ns."""
        return round(self.request_gap_ms * NS_PER_MS)

    def prefill_ns(self, new_tokens: int, attention_work: float, context_tokens: int = 0) -> int:
        """Duration of a prefill pass, ns; never 0, also for a prompt that is wholly cached (it computes one token).

        >>> flat = LatencyModel(weights_ms=3, token_ms=1, knee=2, attention_ms=0, decode_base_ms=1,
        ...                     decode_request_ms=0, context_ms=0, prefill_overhead_ms=0)
        >>> flat.prefill_ns(4, 0.0)
        5000000
        """
        compute = (
            math.hypot(self.weights_ms, self.token_ms * new_tokens)
            if self.knee == 2
            else (self.weights_ms**self.knee + (self.token_ms * new_tokens) ** self.knee) ** (1 / self.knee)
        )
        extra = self.attention_ms * attention_work + self.context_ms * context_tokens
        return max(1, round((compute + extra + self.prefill_overhead_ms) * NS_PER_MS))

    def decode_ns(self, num_requests: int, context_tokens: int, steps: int = 1) -> int:
        """Duration of `steps` decode passes in a row by the same requests, ns, in closed form.

        Every pass adds one token of context to each request, so pass j costs d2·B more than pass j − 1.

        >>> model = LatencyModel(weights_ms=1, token_ms=1, knee=1, attention_ms=0, decode_base_ms=1,
        ...                      decode_request_ms=0.5, context_ms=0.25, decode_overhead_ms=0)
        >>> model.decode_ns(2, 8), model.decode_ns(2, 10), model.decode_ns(2, 8, steps=2)
        (4000000, 4500000, 8500000)
        """
        first = self.decode_base_ms + self.decode_request_ms * num_requests + self.context_ms * context_tokens
        growth = self.context_ms * num_requests * (steps * (steps - 1) / 2)
        return max(steps, round(((first + self.decode_overhead_ms) * steps + growth) * NS_PER_MS))

    def decode_steps(self, num_requests: int, context_tokens: int, elapsed_ns: int, at_most: int) -> int:
        """The pass in progress after `elapsed_ns`: the smallest j with `decode_ns(…, j) ≥ elapsed_ns`, in 1 … at_most.

        O(log at_most), by bisection of the closed form, which is increasing.
        """
        low, high = 1, at_most
        while low < high:
            middle = (low + high) // 2
            if self.decode_ns(num_requests, context_tokens, middle) >= elapsed_ns:
                high = middle
            else:
                low = middle + 1
        return low

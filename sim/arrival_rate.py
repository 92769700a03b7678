"""Arrivals over time: how fast, how evenly, and whether the clock can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanism.prompts import FloatArray

__all__ = ["ArrivalRate", "arrival_rate"]

#: Widths of a bin in seconds that people read easily.
_WIDTHS_S = (0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400)
_NUM_BINS = 120
#: A bin is loaded when its rate is at least this share of the rate that the median request meets.
_LOADED = 0.1
#: Below this share of loaded bins the trace is mostly idle (CASES.md C.14); a longer empty head is a ramp-up.
_MOSTLY_IDLE = 0.05
#: More ties than this, and the clock is coarser than the traffic.
_TIED = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalRate:
    """The arrivals of a trace.

    Attributes
    ----------
    span_s : from the first arrival to the last.
    request_rate : mean requests per second over the span; None for a span of 0.
    bin_s, requests : requests in consecutive bins of this width, from the first arrival on.
    busy_rate : requests per second in the bin of the median request: the load that a typical request meets.
    loaded_share : share of bins with at least a tenth of that rate.
    quiet_head_s : time before the first such bin.
    tied_share : requests that arrive at the very time of the one before.
    most_at_once : the most requests at one time.
    """

    span_s: float
    request_rate: float | None
    bin_s: float
    requests: tuple[int, ...]
    busy_rate: float
    loaded_share: float
    quiet_head_s: float
    tied_share: float
    most_at_once: int

    def warnings(self, *, ties: bool = True) -> list[str]:
        """What an experiment on this trace would stumble over; `ties` False where they have a reason of their own."""
        found = []
        if self.loaded_share < _MOSTLY_IDLE:
            found.append(
                f"only {self.loaded_share:.1%} of the span is loaded (at least a tenth of {self.busy_rate:.3g} "
                "requests/s): elsewhere every policy ties; choose a window with start_s and end_s"
            )
        if self.span_s and self.quiet_head_s / self.span_s > _MOSTLY_IDLE:
            found.append(
                f"ramp-up: the first {self.quiet_head_s:,.6g} s run below a tenth of {self.busy_rate:.3g} requests/s; "
                f"leave them out with start_s: {self.quiet_head_s:.6g}"
            )
        if ties and self.tied_share > _TIED:
            found.append(
                f"ties: {self.tied_share:.1%} of the requests arrive at the very time of the one before, up to "
                f"{self.most_at_once:,} at once: the clock is coarser than the traffic, and ties keep file order"
            )
        return found


def arrival_rate(arrival_s: FloatArray) -> ArrivalRate:
    """Measure sorted arrival times, at least one; O(n).

    >>> arrival_rate(np.array([0.0, 0.0, 10.0])).request_rate
    0.3
    """
    n, first = len(arrival_s), float(arrival_s[0])
    span_s = float(arrival_s[-1]) - first
    bin_s = next((width for width in _WIDTHS_S if span_s / width < _NUM_BINS), max(_WIDTHS_S[-1], span_s / _NUM_BINS))
    place = ((arrival_s - first) / bin_s).astype(np.int64)
    requests = np.bincount(place)
    busy = float(np.median(requests[place]))
    loaded = requests >= _LOADED * busy
    times, at_once = np.unique(arrival_s, return_counts=True)
    return ArrivalRate(
        span_s=span_s,
        request_rate=n / span_s if span_s else None,
        bin_s=float(bin_s),
        requests=tuple(requests.tolist()),
        busy_rate=busy / bin_s,
        loaded_share=float(loaded.mean()),
        quiet_head_s=float(loaded.argmax() * bin_s),
        tied_share=1 - len(times) / n,
        most_at_once=int(at_once.max()),
    )

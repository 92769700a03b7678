"""What driven probes say: one number a grid point, its repetitions' spread, and which points are held out."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from sim.errors import BackendError
from sim.latency_fit import DecodePoint, PrefillPoint
from sim.measuring import Driven, Probe

__all__ = ["Measurements", "PointOf", "spread_percent"]

P = TypeVar("P", PrefillPoint, DecodePoint)

#: Finishes of a batch that decoded together lie within this share of its decoding time.
TOGETHER = 0.25
#: One grid point in so many is held out.
HELD_OUT = 4
#: Below this many grid points nothing is held out.
FEWEST = 8


@dataclass(slots=True)
class PointOf(Generic[P]):
    """A grid point: the median of its repetitions, the repetitions in ms, and whether the fit must not see it."""

    key: str
    point: P
    repeats_ms: tuple[float, ...]
    held_out: bool = False


@dataclass(slots=True)
class Measurements:
    """Collects rounds; `discarded` counts by reason, `front_end` holds the server's own words by coefficient."""

    chunk_tokens: int | None
    prefill: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    decode: dict[tuple[int, float], list[float]] = field(default_factory=dict)
    discarded: dict[str, int] = field(default_factory=dict)
    front_end: dict[str, list[float]] = field(default_factory=dict)

    def take(self, driven: Driven) -> None:
        """One more round; BackendError where the server does not say what it had cached."""
        for name, ms in driven.notes.checks.get("front_end", {}).items():
            self.front_end.setdefault(name, []).append(ms)
        for probe in driven.done:
            if not driven.ok(probe):
                failed = next(driven.served[i] for i in probe.requests if driven.served[i].status != "ok")
                self._discard(f"{failed.status}: {failed.error}")
            elif probe.kind == "prefill":
                self._take_prefill(driven, probe)
            elif probe.kind == "decode":
                self._take_decode(driven, probe)

    def prefill_points(self, rng: np.random.Generator) -> list[PointOf[PrefillPoint]]:
        """By new and cached tokens."""
        found = []
        for (new, cached), times in sorted(self.prefill.items()):
            median = statistics.median(times)
            point = PrefillPoint(new_tokens=new, cached_tokens=cached, chunk_tokens=self.chunk_tokens, ttft_ms=median)
            behind = f" behind {cached:,}" if cached else ""
            found.append(PointOf(f"{new:,} new{behind}", point, tuple(times)))
        return _held_out(found, rng)

    def front_end_ms(self) -> dict[str, float]:
        """Medians over rounds of what the server's timestamps say of the way between it and its clients."""
        return {name: statistics.median(values) for name, values in self.front_end.items()}

    def decode_points(self, rng: np.random.Generator) -> list[PointOf[DecodePoint]]:
        """By batch and context."""
        found = []
        for (size, context), times in sorted(self.decode.items()):
            point = DecodePoint(num_requests=size, context_tokens=context, step_ms=statistics.median(times))
            found.append(PointOf(f"{size} × {context / size:,.0f}", point, tuple(times)))
        return _held_out(found, rng)

    def _take_prefill(self, driven: Driven, probe: Probe) -> None:
        index = probe.requests[0]
        cached, prompt = driven.served[index].cached_tokens, int(driven.prompt_tokens[index])
        if cached is None:
            raise BackendError("The server does not say what it had cached; start it with --enable-cache-report.")
        self.prefill.setdefault((prompt - cached, cached), []).append(driven.ttft_ms(index))

    def _take_decode(self, driven: Driven, probe: Probe) -> None:
        """From the last first token to the first finish all of them decode; each step adds a token to each."""
        served = [driven.served[index] for index in probe.requests]
        first = max(each.first_token_ns for each in served if each.first_token_ns is not None)
        ends = [each.finish_ns for each in served if each.finish_ns is not None]
        lasted, steps = min(ends) - first, served[0].output_tokens - 1
        if steps < 1 or lasted <= 0 or max(ends) - min(ends) > TOGETHER * lasted:
            self._discard("a batch that did not decode together")
            return
        size = len(served)
        prompts = int(driven.prompt_tokens[list(probe.requests)].sum())
        self.decode.setdefault((size, prompts + size * (steps + 1) / 2), []).append(lasted / steps / 1e6)

    def _discard(self, reason: str) -> None:
        self.discarded[reason] = self.discarded.get(reason, 0) + 1


def _held_out(points: list[PointOf[P]], rng: np.random.Generator) -> list[PointOf[P]]:
    """Mark every fourth at random, never the first or the last: the fit is not asked to extrapolate."""
    if len(points) >= FEWEST:
        inner = 1 + rng.permutation(len(points) - 2)
        for place in inner[: len(points) // HELD_OUT].tolist():
            points[place].held_out = True
    return points


def spread_percent(points: Iterable[PointOf[PrefillPoint] | PointOf[DecodePoint]]) -> float | None:
    """The median over points of half their repetitions' range, % of the median; None without repetitions."""
    spreads: Sequence[float] = [
        50 * (max(each.repeats_ms) - min(each.repeats_ms)) / statistics.median(each.repeats_ms)
        for each in points
        if len(each.repeats_ms) > 1
    ]
    return statistics.median(spreads) if spreads else None

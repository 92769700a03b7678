"""Measure a live server, fit the latency model, and say how good the fit is on what it has not seen.

Rounds of one designed grid (`sim.calibration_plan`) until the budget is used up; medians over rounds; a fit on three
quarters of the grid points (`sim.latency_fit`); errors on the rest, and on closed loops of mixed requests that the
fitted model predicts by simulation. The outcome is a profile: JSON that `simulate` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mechanism.prompts import FloatArray
from sim.backend import BackendConfig
from sim.calibration_plan import Room, mixed_table, round_table, warm_up_table
from sim.calibration_points import Measurements, PointOf, spread_percent
from sim.clock import NS_PER_S, seconds_to_ns
from sim.errors import BackendError, NothingServedError
from sim.fitting import CONFIDENCE, UnidentifiedError
from sim.latency_fit import DecodePoint, LatencyFit, PrefillPoint, fit_latency, predict_decode_ms, predict_prefill_ms
from sim.measuring import Driven, ProbeTable, drive

__all__ = ["Calibration", "CalibrationSettings", "calibrate"]

#: From a profile to the server it describes, simulated.
SimulatedBy = Callable[[Mapping[str, Any]], AbstractContextManager[BackendConfig]]
#: Told the share done, 0 … 1.
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationSettings:
    """How long to measure.

    Attributes
    ----------
    budget_s : no probe starts later than this.
    rounds : at most so many repetitions of the grid.
    seed : of the order of probes and of the held-out points.
    """

    budget_s: float = 480.0
    rounds: int = 4
    seed: int = 0


@dataclass(slots=True)
class Calibration:
    """What was measured and fitted.

    Attributes
    ----------
    profile : the profile file's content.
    warnings : sentences for the person at the keyboard.
    interrupted : a Ctrl-C ended the measurements; the profile is of those that were done.
    """

    profile: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False


def calibrate(
    config: BackendConfig, simulated: SimulatedBy, settings: CalibrationSettings, progress: Progress = lambda _: None
) -> Calibration:
    """Measure, fit, and try the fit.

    Parameters
    ----------
    config : the live server.
    simulated : makes the simulated server of a profile, for the closed loops.

    Raises
    ------
    BackendError
        The server is not ready, has no room, was lost in the first round, or does not report cached tokens.
    NothingServedError
        No measurement succeeded, or too few to fit the model at all; the message says what is missing.
    """
    found = Calibration()
    with config.open() as opened:
        first = drive(opened, warm_up_table())
        measured, room, spent_ns = _measure(opened, first, settings, found, progress)
        profile = _fitted(first, measured, settings, found)
        profile["provenance"] |= {"measured_s": round(spent_ns / NS_PER_S, 1)}
        if not found.interrupted:
            _try_closed_loops(opened, simulated, room, settings, profile, found)
    profile["provenance"]["status"] = "interrupted" if found.interrupted else "complete"
    found.profile = profile
    progress(1.0)
    return found


def _measure(
    config: BackendConfig, first: Driven, settings: CalibrationSettings, found: Calibration, progress: Progress
) -> tuple[Measurements, Room, int]:
    """Rounds until there are enough of them, or the budget or the patience ends."""
    facts = first.notes.facts
    room = Room.of(first.limits, facts.get("chunked_prefill_tokens"), facts.get("max_running_requests"))
    measured, budget_ns, spent_ns = Measurements(room.chunk_tokens), seconds_to_ns(settings.budget_s), 0
    found.interrupted = first.interrupted
    for number in range(settings.rounds):
        if found.interrupted or spent_ns >= budget_ns:
            break
        table = round_table(room, np.random.default_rng((settings.seed, number)))

        def show(done: int, now_ns: int, before: float = number, before_ns: int = spent_ns) -> None:
            rounds = (before + done / len(table.probes)) / settings.rounds  # noqa: B023 (called inside the round)
            progress(min(1.0, max(rounds, (before_ns + now_ns) / budget_ns)))

        driven = drive(config, table, budget_ns - spent_ns, show)
        spent_ns += driven.elapsed_ns
        found.interrupted = driven.interrupted
        found.warnings += [each for each in driven.notes.warnings if each not in found.warnings]
        if driven.notes.invalid is not None:
            if number == 0:
                raise BackendError(f"Nothing can be fitted: {driven.notes.invalid}.")
            found.warnings.append(f"Round {number + 1} was left out: {driven.notes.invalid}.")
            break
        measured.take(driven)
        if len(driven.done) < len(table.probes) and not found.interrupted:
            found.warnings.append(f"The budget of {settings.budget_s:g} s ended in round {number + 1}.")
    found.warnings += [f"{count} probes were left out ({reason})." for reason, count in measured.discarded.items()]
    return measured, room, spent_ns


def _fitted(first: Driven, measured: Measurements, settings: CalibrationSettings, found: Calibration) -> dict[str, Any]:
    """The profile, still without the closed loops."""
    rng = np.random.default_rng((settings.seed, 1 << 20))
    prefill, decode = measured.prefill_points(rng), measured.decode_points(rng)
    if not prefill and not decode:
        raise NothingServedError("No measurement succeeded." + "".join(f" {each}" for each in found.warnings))
    try:
        seen = [p.point for p in prefill if not p.held_out], [d.point for d in decode if not d.held_out]
        fit = fit_latency(*seen, measured.front_end_ms())
    except UnidentifiedError as error:
        raise NothingServedError(
            f"The latency model cannot be fitted: {error}. Give it more time (--budget-s)."
        ) from error
    coefficients = asdict(fit.latency)
    rows = [*_prefill_rows(prefill, coefficients), *_decode_rows(decode, coefficients)]
    facts = first.notes.facts
    return {
        "name": str(facts.get("model") or "calibrated").rstrip("/").rpartition("/")[2],
        "model": facts.get("model"),
        "latency": coefficients,
        "kv_tokens": first.limits.kv_tokens,
        "measured_up_to_tokens": max(
            (each.point.new_tokens + each.point.cached_tokens for each in prefill), default=None
        ),
        "server": {**facts, "context_tokens": first.limits.context_tokens},
        "provenance": {"method": "measured on a live server by calibrate", "rounds": settings.rounds},
        "confidence": CONFIDENCE,
        "intervals": _plain_intervals(fit),
        "not_fitted": dict.fromkeys(sorted(measured.front_end_ms()), "by the server's timestamps"),
        "unidentified": fit.unidentified,
        "held_out_error_percent": {
            "prefill": _errors(rows, "prefill"),
            "decode": _errors(rows, "decode"),
            "mixed": None,
        },
        "repeat_spread_percent": {"prefill": spread_percent(prefill), "decode": spread_percent(decode)},
        "measurements": rows,
    }


def _plain_intervals(fit: LatencyFit) -> dict[str, list[float]]:
    return {name: list(bounds) for name, bounds in fit.intervals.items()}


def _prefill_rows(points: Sequence[PointOf[PrefillPoint]], coefficients: Mapping[str, float]) -> list[dict[str, Any]]:
    fitted = predict_prefill_ms(coefficients, [each.point for each in points])
    return [
        {
            "kind": "prefill",
            "key": each.key,
            "new_tokens": each.point.new_tokens,
            "cached_tokens": each.point.cached_tokens,
            "measured_ms": each.point.ttft_ms,
            "fitted_ms": float(fitted_ms),
            "repeats_ms": list(each.repeats_ms),
            "held_out": each.held_out,
        }
        for each, fitted_ms in zip(points, fitted, strict=True)
    ]


def _decode_rows(points: Sequence[PointOf[DecodePoint]], coefficients: Mapping[str, float]) -> list[dict[str, Any]]:
    step = dict(coefficients)
    step["decode_base_ms"] += step["decode_overhead_ms"]
    fitted = predict_decode_ms(step, [each.point for each in points])
    return [
        {
            "kind": "decode",
            "key": each.key,
            "num_requests": each.point.num_requests,
            "context_tokens": each.point.context_tokens,
            "measured_ms": each.point.step_ms,
            "fitted_ms": float(fitted_ms),
            "repeats_ms": list(each.repeats_ms),
            "held_out": each.held_out,
        }
        for each, fitted_ms in zip(points, fitted, strict=True)
    ]


def _errors(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float] | None:
    """Of held-out points; None where nothing was held out."""
    held = [row for row in rows if row["kind"] == kind and row["held_out"]]
    ratio: FloatArray = np.array([abs(row["fitted_ms"] / row["measured_ms"] - 1) for row in held])
    return _percent(ratio) if held else None


def _percent(ratio: FloatArray) -> dict[str, float]:
    return {
        "mean": 100 * float(ratio.mean()),
        "p95": 100 * float(np.percentile(ratio, 95)),
        "max": 100 * float(ratio.max()),
        "n": len(ratio),
    }


def _try_closed_loops(
    config: BackendConfig,
    simulated: SimulatedBy,
    room: Room,
    settings: CalibrationSettings,
    profile: dict[str, Any],
    found: Calibration,
) -> None:
    """Serve mixed requests on the server and in simulation; the error of each loop's mean TTFT and mean latency."""
    table: ProbeTable = mixed_table(room, np.random.default_rng((settings.seed, 1 << 21)))
    live = drive(config, table)
    found.interrupted = live.interrupted
    if live.notes.invalid is not None or not live.done:
        found.warnings.append(f"Closed loops were not measured: {live.notes.invalid or 'interrupted'}.")
        return
    with simulated(profile) as opened:
        ours = drive(opened, table)
    ratios = []
    for probe in live.done:
        if not live.ok(probe) or not ours.ok(probe):
            found.warnings.append(f"The closed loop with {probe.key} was left out: a request of it failed.")
            continue
        for name, measured, fitted in _loop_means(live, ours, probe.requests):
            row = {"kind": "mixed", "key": f"{probe.key}, {name}", "measured_ms": measured, "fitted_ms": fitted}
            profile["measurements"].append({**row, "repeats_ms": [measured], "held_out": True})
            ratios.append(abs(fitted / measured - 1))
    profile["held_out_error_percent"]["mixed"] = _percent(np.array(ratios)) if ratios else None


def _loop_means(live: Driven, ours: Driven, requests: range) -> list[tuple[str, float, float]]:
    """(what, measured, simulated) in ms."""

    def latency_ms(driven: Driven, index: int) -> float:
        finish = driven.served[index].finish_ns
        assert finish is not None
        return (finish - driven.sent_ns[index]) / 1e6

    def mean(of: Callable[[int], float]) -> float:
        return float(np.mean([of(index) for index in requests]))

    return [
        ("mean TTFT", mean(live.ttft_ms), mean(ours.ttft_ms)),
        ("mean latency", mean(lambda i: latency_ms(live, i)), mean(lambda i: latency_ms(ours, i))),
    ]

"""Robust bounded least squares on relative errors, which says what the data cannot tell instead of inventing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechanism.prompts import FloatArray

__all__ = ["CONFIDENCE", "Fitted", "Parameter", "UnidentifiedError", "fit_relative"]

#: Of the intervals, two-sided.
CONFIDENCE = 0.9
#: Relative residuals beyond this count less and less (soft L1).
OUTLIER = 0.05
#: A direction in parameter space that the data do not feel, relative to the strongest.
BLIND = 1e-6

Predict = Callable[[Mapping[str, float]], FloatArray]


class UnidentifiedError(Exception):
    """The data do not determine a parameter that cannot be done without; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A coefficient to fit.

    Attributes
    ----------
    start : where the search begins, in its unit.
    least, most : bounds.
    neutral : the value it is held at when the data do not determine it; None = it cannot be done without.
    """

    name: str
    start: float
    least: float = 0.0
    most: float = np.inf
    neutral: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fitted values, their intervals (only of what was fitted), and why the others were not."""

    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    unidentified: dict[str, str]


def fit_relative(predict: Predict, measured: FloatArray, parameters: Sequence[Parameter]) -> Fitted:
    """Minimise the soft-L1 loss of predict/measured − 1 within bounds.

    A parameter whose interval reaches its neutral value, or that the data do not feel, is held at the neutral value,
    one at a time in the order given, and the others are fitted again.

    Parameters
    ----------
    predict : parameter values → (n,) predictions.
    measured : (n,) positive.
    parameters : first those that are given up first.

    Raises
    ------
    UnidentifiedError
        Too few measurements, or a parameter without a neutral value is not determined.
    """
    values = {each.name: each.start for each in parameters}
    free, unidentified = list(parameters), dict[str, str]()
    bounds: dict[str, tuple[float, float]] = {}
    while True:
        if len(measured) <= len(free):
            reason = f"{len(measured)} grid points cannot determine {len(free)} coefficients"
            _give_up(free[0], reason, free, values, unidentified)
            continue
        half, effect = _search(predict, measured, free, values)
        for each in free:
            _widen(bounds, each, values[each.name], half[each.name])
        doubtful = [each for each in free if _doubtful(each, values[each.name], half[each.name], effect[each.name])]
        if not doubtful:
            return Fitted(values, {each.name: bounds[each.name] for each in free}, unidentified)
        _give_up(doubtful[0], _why(half[doubtful[0].name]), free, values, unidentified)


def _widen(bounds: dict[str, tuple[float, float]], each: Parameter, value: float, half: float) -> None:
    """An interval also covers what the coefficient may be if one that was given up is not what it is held at."""
    if np.isfinite(half):
        low, high = bounds.get(each.name, (np.inf, -np.inf))
        bounds[each.name] = (max(each.least, min(low, value - half)), min(each.most, max(high, value + half)))


def _give_up(
    given: Parameter, reason: str, free: list[Parameter], values: dict[str, float], unidentified: dict[str, str]
) -> None:
    if given.neutral is None:
        raise UnidentifiedError(f"{given.name}: {reason}")
    free.remove(given)
    values[given.name] = given.neutral
    unidentified[given.name] = f"{reason}; held at {given.neutral:g}"


def _search(
    predict: Predict, measured: FloatArray, free: Sequence[Parameter], values: dict[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Fit the free parameters in place; half widths of their intervals and their largest relative effect per unit."""
    from scipy.optimize import least_squares

    names = [each.name for each in free]

    def residuals(point: FloatArray) -> FloatArray:
        return predict({**values, **dict(zip(names, point.tolist(), strict=True))}) / measured - 1

    least = np.array([each.least for each in free])
    start = np.maximum(np.array([values[name] for name in names]), least + 1e-12)
    scale = np.array([max(abs(each.start), 1e-12) for each in free])
    found = least_squares(
        residuals,
        start,
        bounds=(least, np.array([each.most for each in free])),
        x_scale=scale,
        loss="soft_l1",
        f_scale=OUTLIER,
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
    )
    values.update(zip(names, found.x.tolist(), strict=True))
    jacobian = np.asarray(found.jac, dtype=np.float64)
    error = residuals(found.x)
    half = _half_widths(jacobian, error)
    effect = np.abs(jacobian).max(axis=0)
    return dict(zip(names, half.tolist(), strict=True)), dict(zip(names, effect.tolist(), strict=True))


def _half_widths(jacobian: FloatArray, residuals: FloatArray) -> FloatArray:
    """t · s · √diag (JᵀJ)⁻¹ with s from the median absolute residual; infinite along directions nothing depends on."""
    from scipy.stats import t

    freedom = jacobian.shape[0] - jacobian.shape[1]
    norms = np.linalg.norm(jacobian, axis=0)
    felt = norms > 0
    half = np.full(jacobian.shape[1], np.inf)
    if not felt.any():
        return half
    _, strength, directions = np.linalg.svd(jacobian[:, felt] / norms[felt], full_matrices=False)
    blind = strength < BLIND * strength[0]
    variance = np.sum((directions[~blind] / strength[~blind, None]) ** 2, axis=0)
    variance[np.any(np.abs(directions[blind]) > 0.1, axis=0)] = np.inf
    inner, outer = np.median(np.abs(residuals)), np.sqrt(np.mean(np.minimum(residuals**2, OUTLIER**2)))
    spread = max(1.4826 * float(inner), float(outer)) * np.sqrt(len(residuals) / freedom)
    half[felt] = t.ppf((1 + CONFIDENCE) / 2, freedom) * spread * np.sqrt(variance) / norms[felt]
    return half


def _doubtful(each: Parameter, value: float, half: float, effect: float) -> bool:
    """Whether the data leave it open whether there is such a thing, and that would matter."""
    if not np.isfinite(half) or each.neutral is None:
        return not np.isfinite(half)  # what cannot be done without is kept, with its wide interval
    if value - half > each.least and half <= 0.5 * value:
        return False
    at_bound = value <= each.least + 1e-9 * max(1.0, each.start)
    return not (at_bound and half * effect <= OUTLIER)


def _why(half: float) -> str:
    return "the measurements do not depend on it" if not np.isfinite(half) else f"uncertain by ± {half:.3g}"

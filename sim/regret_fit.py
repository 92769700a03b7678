"""How regret grows with the number of auctions: the exponent of a power law, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["fit_exponent"]


def fit_exponent(points: Sequence[tuple[int, float]]) -> dict[str, Any] | None:
    """Least squares of log regret on log T: the slope and its 95 % interval by Student's t.

    Parameters
    ----------
    points : (T, mean regret > 0); None is returned for fewer than three different T.

    >>> found = fit_exponent([(100, 20.0), (400, 40.0), (1600, 80.0)])
    >>> round(found["exponent"], 6), [round(end, 6) for end in found["interval"]]
    (0.5, [0.5, 0.5])
    """
    if len({horizon for horizon, _ in points}) < 3:
        return None
    from scipy.stats import t  # late: simulations without budgets need no scipy

    x, y = (np.log(np.array(column, dtype=np.float64)) for column in zip(*points, strict=True))
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    rest = y - y.mean() - slope * (x - x.mean())
    freedom = len(x) - 2
    error = float(np.sqrt((rest**2).sum() / freedom / spread))
    width = float(t.ppf(0.975, freedom)) * error
    return {"exponent": slope, "interval": [slope - width, slope + width], "points": [list(point) for point in points]}

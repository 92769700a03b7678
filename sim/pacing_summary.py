"""Budgets over all trials of a run: what pacing costs in welfare, whether promises held, how regret grows with time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mechanism.prompts import FloatArray
from sim.pacing import PacedCell
from sim.regret_fit import fit_exponent
from sim.summary import moments

__all__ = ["PACING_DEFINITIONS", "summarise_pacing"]

#: Points of a series over auctions.
_POINTS = 240

PACING_DEFINITIONS = {
    "welfare_vs_truthful_pct": "100 × (Σ welfare as scheduled / Σ best welfare of the rule's orders − 1), over all "
    "auctions of a trial: what the truth would have made of the same batches.",
    "guaranteed_pct": "The same for the welfare that the κ bound (Theorem 4.4) guarantees.",
    "bound_violations": "Auctions whose welfare is below the bound; impossible, so a bug.",
    "agents": "Who bids.",
    "overspent": "Auctions after which a user had spent more than his budget; impossible, so a bug.",
    "spent_pct": "100 × Σ spent / Σ budget.",
    "regret": "Upper bound on the best utility in hindsight minus utility, money a user and period of `horizon` "
    "auctions.",
    "regret_pct": "100 × Σ regret / Σ bound.",
    "trials": "welfare_vs_truthful_pct, guaranteed_pct, bound_violations and overspent, trial by trial.",
    "auctions": "The two percentages auction by auction, and over all auctions up to it (cumulative_…), over trials.",
    "exponent": "Slope of log mean regret over log horizon with its 95 % interval (Student's t).",
}


def summarise_pacing(cells: Sequence[PacedCell]) -> dict[str, Any]:
    """The `pacing` part of summary.json; empty where nobody had a budget."""
    if not cells:
        return {}
    labels = list(dict.fromkeys(cell.schedule for cell in cells))
    schedules = {label: _schedule([cell for cell in cells if cell.schedule == label]) for label in labels}
    points = [
        (found["horizon"], found["regret"]["mean"])
        for found in schedules.values()
        if found["regret"]["mean"] is not None and found["regret"]["mean"] > 0
    ]
    return {"schedules": schedules, "exponent": fit_exponent(points), "definitions": PACING_DEFINITIONS}


def _schedule(cells: Sequence[PacedCell]) -> dict[str, Any]:
    users = [user for cell in cells for user in cell.users]
    regrets = [user.regret for user in users]
    known = [user for user in users if user.bound is not None]
    budgets = math.fsum(user.budget for user in users)
    return {
        "agents": list(cells[0].agents),
        "welfare_vs_truthful_pct": moments([_versus_best(cell, cell.welfare) for cell in cells]),
        "guaranteed_pct": moments([_versus_best(cell, _guaranteed(cell)) for cell in cells]),
        "bound_violations": sum(map(_violations, cells)),
        "overspent": sum(cell.overspent for cell in cells),
        "spent_pct": 100 * math.fsum(user.spent for user in users) / budgets if budgets else None,
        "horizon": users[0].horizon if users else 0,
        "regret": moments(regrets),
        "regret_pct": _percent(math.fsum(r for r in regrets if r is not None), [user.bound for user in known]),
        "trials": [_trial(cell) for cell in cells],
        "auctions": _auctions(cells),
    }


def _trial(cell: PacedCell) -> dict[str, float | int | None]:
    return {
        "welfare_vs_truthful_pct": _versus_best(cell, cell.welfare),
        "guaranteed_pct": _versus_best(cell, _guaranteed(cell)),
        "bound_violations": _violations(cell),
        "overspent": cell.overspent,
    }


def _auctions(cells: Sequence[PacedCell]) -> dict[str, Any] | None:
    """Means and errors over trials of each auction and of all up to it; None where there is no best order.

    At most `_POINTS` auctions, evenly spaced; those that every trial has, and in which welfare could be had.
    """
    series: dict[str, list[Any]] = {"welfare_vs_truthful_pct": [], "guaranteed_pct": []}
    sums: dict[str, list[Any]] = {f"cumulative_{name}": [] for name in series}
    count = min(len(cell.welfare) for cell in cells)
    for cell in cells:
        guaranteed = _guaranteed(cell)
        if cell.best is None or guaranteed is None:
            return None
        for name, welfare in (("welfare_vs_truthful_pct", cell.welfare), ("guaranteed_pct", guaranteed)):
            series[name].append(_percent_over(welfare[:count], cell.best[:count]))
            totals = _percent_over(np.cumsum(welfare[:count]), np.cumsum(cell.best[:count]))
            sums[f"cumulative_{name}"].append(totals)
    at = np.unique(np.linspace(0, count - 1, min(count, _POINTS)).round().astype(np.int64)).tolist()
    columns = {
        name: [moments([None if np.isnan(row[t]) else float(row[t]) for row in rows]) for t in at]
        for name, rows in (series | sums).items()
    }
    moment_names = ("mean", "se", "n")
    spread = {name: {key: [found[key] for found in rows] for key in moment_names} for name, rows in columns.items()}
    return {"auction": at, **spread}


def _percent_over(welfare: FloatArray, best: FloatArray) -> FloatArray:
    """100 × (welfare / best − 1); NaN where nothing could be had."""
    share: FloatArray = np.divide(welfare, best, out=np.full(len(best), np.nan), where=best > 0)
    return 100 * share - 100


def _versus_best(cell: PacedCell, welfare: Any) -> float | None:
    if cell.best is None or welfare is None or not cell.best.sum() > 0:
        return None
    return float(100 * (welfare.sum() / cell.best.sum() - 1))


def _guaranteed(cell: PacedCell) -> Any:
    return None if cell.best is None or cell.bound is None else cell.best * cell.bound


def _violations(cell: PacedCell) -> int:
    guaranteed = _guaranteed(cell)
    return 0 if guaranteed is None else int(np.sum(cell.welfare < guaranteed * (1 - 1e-9)))


def _percent(part: float, wholes: Sequence[float | None]) -> float | None:
    whole = math.fsum(each for each in wholes if each is not None)
    return 100 * part / whole if whole > 0 else None

"""summary.json: every metric as mean, standard error and n over trials, and paired against the first schedule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sim.metrics import DEFINITIONS, METRIC_NAMES, Metrics
from sim.papers_figures import gaps_to_bid_sort

__all__ = ["moments", "summarise"]


def summarise(
    trials: Mapping[str, Sequence[Metrics]], statuses: Mapping[str, Mapping[str, int]], seeds: Mapping[str, Any]
) -> dict[str, Any]:
    """The summary of a run; `gap_to_bid_sort` is there where dfs-bid and bid-sort are.

    A schedule without a finished trial has every metric too, each null over n = 0.

    Parameters
    ----------
    trials : schedule label → the metrics of its trials, in trial order; the first label is the baseline of `paired`.
    statuses : schedule label → status → number of requests over all trials.
    seeds : how the randomness was seeded, copied into the summary.
    """
    names = tuple(next((rows[0] for rows in trials.values() if rows), METRIC_NAMES))
    baseline, gaps = next(iter(trials.values()), []), gaps_to_bid_sort(trials)
    return {
        "schedules": {
            label: {
                **{name: moments([trial[name] for trial in rows]) for name in names},
                "statuses": dict(statuses.get(label, {})),
                "trials": list(rows),
                "paired": _paired(names, rows, baseline),
            }
            for label, rows in trials.items()
        },
        **({"gap_to_bid_sort": moments(gaps)} if gaps else {}),
        "definitions": DEFINITIONS,
        "seeds": dict(seeds),
    }


def moments(values: Sequence[float | None]) -> dict[str, float | int | None]:
    """Mean, standard error and n of the values that are there.

    >>> moments([1.0, 3.0, None])
    {'mean': 2.0, 'se': 1.0, 'n': 2}
    >>> moments([None])
    {'mean': None, 'se': None, 'n': 0}
    """
    there = [value for value in values if value is not None]
    n = len(there)
    if n == 0:
        return {"mean": None, "se": None, "n": 0}
    mean = math.fsum(there) / n
    if n == 1:
        return {"mean": mean, "se": None, "n": 1}
    variance = math.fsum((value - mean) ** 2 for value in there) / (n - 1)
    return {"mean": mean, "se": math.sqrt(variance / n), "n": n}


def _paired(names: Sequence[str], rows: Sequence[Metrics], baseline: Sequence[Metrics]) -> dict[str, Any]:
    paired: dict[str, Any] = {}
    for name in names:
        both = [(ours[name], base[name]) for ours, base in zip(rows, baseline, strict=False)]
        found = moments([ours - base for ours, base in both if ours is not None and base is not None])
        paired[name] = {"diff": found["mean"], "se": found["se"], "n": found["n"]}
    return paired

"""Realised order: who really was served before whom, by TTFT, inside each cohort (DESIGN.md, Definitions).

The cohort of a rank is the whole run when arrivals are saturated, as in the paper, else the scheduling batch.
"""

from __future__ import annotations

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from mechanism.welfare import realised_priority
from sim.run_log import RunLog

__all__ = ["cohorts", "realised_priority_of_run"]


def cohorts(log: RunLog, *, saturated: bool) -> list[IntArray]:
    """Table indices of every cohort, each in submission order (batch, then position).

    Requests that never entered an auction (rejected, or not reached before an interrupt) stand outside.
    """
    inside = np.flatnonzero(log.batch >= 0)
    submitted = inside[np.lexsort((log.position[inside], log.batch[inside]))]
    if saturated or len(submitted) == 0:
        return [submitted] if len(submitted) else []
    return list(np.split(submitted, np.flatnonzero(np.diff(log.batch[submitted])) + 1))


def realised_priority_of_run(log: RunLog, ttft_s: FloatArray, *, saturated: bool) -> FloatArray:
    """(n,) share of the cohort served after each request; NaN outside any cohort.

    Ties in TTFT go by submission. A request that failed after dispatch has no TTFT and ranks last.
    """
    priority = np.full(len(ttft_s), np.nan)
    for cohort in cohorts(log, saturated=saturated):
        priority[cohort] = realised_priority(np.nan_to_num(ttft_s[cohort], nan=np.inf))
    return priority

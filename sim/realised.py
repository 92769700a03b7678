"""Realised order: who really was served before whom, by TTFT, inside each cohort (DESIGN.md, Definitions).

The cohort of a rank is the whole run when arrivals are saturated, as in the paper, else the scheduling batch.
"""

from __future__ import annotations

import numpy as np

from mechanism.prompts import FloatArray, IntArray
from mechanism.welfare import realised_priority
from sim.run_log import RunLog

__all__ = ["cohort_of", "realised_priority_of_run"]


def cohort_of(log: RunLog, *, saturated: bool) -> IntArray:
    """(n,) number of each request's cohort.

    −1 for requests that never entered an auction (rejected, or not reached before an interrupt): they stand outside.
    """
    return np.where(log.batch < 0, -1, 0 if saturated else log.batch)


def realised_priority_of_run(log: RunLog, ttft_s: FloatArray, *, saturated: bool) -> FloatArray:
    """(n,) share of the cohort served after each request; NaN outside any cohort.

    Ties in TTFT go by submission (batch, then position). A request that failed after dispatch has no TTFT and
    ranks last.
    """
    cohort = cohort_of(log, saturated=saturated)
    inside = np.flatnonzero(cohort >= 0)
    submission = np.empty(len(inside), dtype=np.int64)
    submission[np.lexsort((log.position[inside], log.batch[inside]))] = np.arange(len(inside))
    priority = np.full(len(ttft_s), np.nan)
    first_token = np.nan_to_num(ttft_s[inside], nan=np.inf)
    priority[inside] = realised_priority(first_token, submission, cohort[inside])
    return priority

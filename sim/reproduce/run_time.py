"""What the auction itself costs: tree, schedule, payments, and payments by their definition, in CPU time.

A measurement of this machine, not a simulation: it is made anew in every call, after all cells have run. Each time is
the least of several repetitions in this process; the requests are those of the experiments, one user each.
"""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.model import Auction
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import build_tree
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.welfare import phi
from sim.population import make_requests
from sim.scenario import load_scenario

__all__ = ["LONG", "LONG_SIZES", "SHORT", "SHORT_SIZES", "AuctionTimes", "RunTimes", "measure_run_times", "naive_vcg"]

#: Prompts as in the experiments, and short ones, so that a million of them fit a small machine.
LONG, SHORT = "long prompts", "short prompts"
LONG_SIZES = (128, 256, 512, 1024, 2048, 4096)
SHORT_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_OVERRIDES = {
    LONG: (),
    SHORT: ("workload.prefix_tokens=8", "workload.question_tokens=12", "workload.singleton_tokens=20"),
}
#: From so many requests on, at most `_FEW` trials: a trial takes seconds.
_LARGE, _FEW = 2048, 3
#: Requests worth of work that the repetitions of one measurement add up to, at most `_REPETITIONS` times.
_WORK, _REPETITIONS = 20_000, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionTimes:
    """CPU seconds of one auction over n requests, by trial; `naive_s` is None where it would take too long."""

    series: str
    n: int
    prompt_tokens: float
    tree_s: tuple[float, ...]
    schedule_s: tuple[float, ...]
    payments_s: tuple[float, ...]
    naive_s: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class RunTimes:
    """All sizes, and the machine they were measured on."""

    rows: tuple[AuctionTimes, ...]
    machine: str

    def row(self, series: str, n: int) -> AuctionTimes:
        """The one of this size."""
        return next(row for row in self.rows if (row.series, row.n) == (series, n))

    def tree_s(self, series: str, n: int) -> FloatArray:
        """(trials,) building the tree."""
        return np.array(self.row(series, n).tree_s, dtype=np.float64)

    def market_s(self, series: str, n: int) -> FloatArray:
        """(trials,) schedule and payments."""
        row = self.row(series, n)
        return np.array(row.schedule_s, dtype=np.float64) + np.array(row.payments_s, dtype=np.float64)

    def exponent(self, series: str, sizes: tuple[int, ...], what: Callable[[AuctionTimes], FloatArray]) -> FloatArray:
        """(trials,) slope of log time over log n, of the trials that every size has."""
        times = [what(self.row(series, n)) for n in sizes]
        trials = min(map(len, times))
        table = np.log(np.stack([each[:trials] for each in times]))
        return np.asarray(np.polyfit(np.log(sizes), table, 1)[0])


def measure_run_times(
    backend_types: Mapping[str, type[Any]],
    *,
    seed: int,
    trials: int,
    sizes: Mapping[str, tuple[int, ...]],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> RunTimes:
    """Time every size of every series (LONG, SHORT); about two minutes for all of them.

    Parameters
    ----------
    sizes : series → numbers of requests; payments by their definition are timed for LONG only, for they are quadratic.
    progress : called with (requests auctioned, requests in all).
    """
    todo = [(series, n, min(trials, _FEW) if n >= _LARGE else trials) for series, ns in sizes.items() for n in ns]
    total, done, rows = sum(n * count for _, n, count in todo), 0, []
    for series, n, count in todo:
        overrides = (*_OVERRIDES[series], f"workload.num_requests={n}")
        scenario = load_scenario("mixshare-sweep", backend_types, overrides, seed=seed)
        times, tokens = [], 0.0
        for trial in range(count):
            requests, _ = make_requests(scenario, trial)
            tokens = float(requests.prompt_tokens.mean())
            times.append(_times(requests, naive=series == LONG))
            done += n
            progress(done, total)
        tree, schedule, payments, naive = zip(*times, strict=True)
        rows.append(
            AuctionTimes(
                series=series,
                n=n,
                prompt_tokens=tokens,
                tree_s=tree,
                schedule_s=schedule,
                payments_s=payments,
                naive_s=naive if series == LONG else None,
            )
        )
    return RunTimes(tuple(rows), _machine())


def naive_vcg(auction: Auction, order: IntArray) -> FloatArray:
    """VCG payments by definition: one more schedule for every user, with his bids at zero; O(m · n log ν)."""
    payments = np.zeros(auction.num_users)
    for user in range(auction.num_users):
        others = np.where(auction.users == user, 0.0, auction.bids)
        without = Auction(tree=auction.tree, bids=others, users=auction.users, num_users=auction.num_users)
        payments[user] = phi(others, DfsBid().order(without)) - phi(others, order)
    return payments / max(len(auction) - 1, 1)


def _times(requests: Any, *, naive: bool) -> tuple[float, float, float, float]:
    """CPU seconds of tree, schedule, payments, and naive payments (NaN if not asked for)."""
    n = len(requests)
    repetitions = max(1, min(_REPETITIONS, _WORK // n))
    tree_s, tree = _cpu_s(lambda: build_tree(requests.prompts), repetitions)
    auction = Auction(tree=tree, bids=requests.value, users=requests.user, num_users=len(requests.user_names))
    schedule_s, order = _cpu_s(lambda: DfsBid().order(auction), repetitions)
    payments_s, _ = _cpu_s(lambda: Vcg().charge(auction, order), repetitions)
    naive_s = _cpu_s(lambda: naive_vcg(auction, order), 1)[0] if naive else math.nan
    return tree_s, schedule_s, payments_s, naive_s


def _cpu_s(work: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Least CPU seconds of one call, and what the last call returned."""
    best, result = math.inf, None
    for _ in range(repetitions):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def _machine() -> str:
    """What the times were measured on, in words."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else ())
        if line.startswith("model name")
    ]
    processor = names[0] if names else platform.processor() or platform.machine()
    python = platform.python_version()
    return f"{processor}, {os.cpu_count()} processors, Python {python}, numpy {np.__version__}"

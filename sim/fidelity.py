"""How far two runs of one scenario agree, schedule by schedule: simulated against live, or live against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Agreement", "agreement", "mean_agreement"]

KEY = ["schedule", "trial", "request_id"]
COLUMNS = [
    *KEY, "batch", "prompt_tokens", "cached_tokens", "arrival_s", "finish_s", "ttft_s", "server_ttft_s", "value",
    "realised_priority", "num_retractions", "status",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Differences between two runs of one schedule; None = there was nothing to compare.

    Attributes
    ----------
    num_compared, num_lost : requests served in both, and in only one of the two.
    ttft_mape_pct : mean over requests of |difference| in server_ttft_s, % of the second run's.
    ttft_mean_pct, ttft_p90_pct : |difference| of the means, and of the 90th percentiles, %.
    hit_rate_pp : |difference| of Σ cached / Σ prompt tokens, percentage points.
    order_tau : Kendall's τ of the realised order, over pairs of one cohort whose first tokens come of different passes.
    welfare_pct : |difference| of the welfare on the realised order, %; requests of one pass share its mean rank.
    throughput_pct : |difference| of requests served per second, %.
    num_cached_known, num_cached_equal : requests whose cached tokens both runs know, and those where they are equal.
    """

    num_compared: int
    num_lost: int
    ttft_mape_pct: float | None
    ttft_mean_pct: float | None
    ttft_p90_pct: float | None
    hit_rate_pp: float | None
    order_tau: float | None
    welfare_pct: float | None
    throughput_pct: float | None
    num_cached_known: int
    num_cached_equal: int

    @property
    def cached_equal_pct(self) -> float | None:
        """Requests with equal cached tokens, % of those where both runs know them."""
        return 100 * self.num_cached_equal / self.num_cached_known if self.num_cached_known else None


def agreement(first: pl.DataFrame, second: pl.DataFrame, simulated: pl.DataFrame, *, saturated: bool) -> Agreement:
    """Compare two runs' records of one schedule; relative differences are shares of the second.

    Parameters
    ----------
    first, second : rows of requests.parquet (DESIGN.md, Files) of one schedule, all trials.
    simulated : those of the simulated run, which say in `pass` which requests' first tokens come of one pass. In which
        order a server sends these out is chance: no order is asked of them, and welfare does not count it.
    saturated : whether a trial is one cohort, else a batch is.
    """
    import polars as pl

    ok = pl.col("status") == "ok"
    both = first.select(COLUMNS).filter(ok).join(second.select(COLUMNS).filter(ok), on=KEY, suffix="_2")
    both = both.join(simulated.select(*KEY, "pass"), on=KEY)
    lost = first.filter(ok).height + second.filter(ok).height - 2 * both.height
    ttft, other = both["server_ttft_s"].to_numpy(), both["server_ttft_s_2"].to_numpy()
    known = both.filter(pl.col("cached_tokens").is_not_null() & pl.col("cached_tokens_2").is_not_null())
    equal = known.filter(pl.col("cached_tokens") == pl.col("cached_tokens_2")).height
    some, cohort = both.height > 0, ["trial"] if saturated else ["trial", "batch"]
    return Agreement(
        num_compared=both.height,
        num_lost=lost,
        ttft_mape_pct=100 * float(np.mean(np.abs(ttft - other) / other)) if some else None,
        ttft_mean_pct=_percent(float(ttft.mean()), float(other.mean())) if some else None,
        ttft_p90_pct=_percent(float(np.percentile(ttft, 90)), float(np.percentile(other, 90))) if some else None,
        hit_rate_pp=_hit_rate_pp(known),
        order_tau=_order_tau(both, cohort),
        welfare_pct=_mean([_percent(*_welfares(trial, cohort)) for _, trial in both.group_by("trial")]),
        throughput_pct=_mean([_percent(*_rates(trial)) for _, trial in both.group_by("trial")]),
        num_cached_known=known.height,
        num_cached_equal=equal,
    )


def mean_agreement(several: Sequence[Agreement]) -> Agreement | None:
    """Means of the measures, sums of the counts; None of none."""
    if not several:
        return None
    rows = [asdict(each) for each in several]
    merged: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        merged[name] = sum(values) if name.startswith("num_") else _mean(values)
    return Agreement(**merged)


def _percent(ours: float, theirs: float) -> float | None:
    return 100 * abs(ours - theirs) / theirs if theirs else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _hit_rate_pp(known: pl.DataFrame) -> float | None:
    total, ours, theirs = (int(known[name].sum()) for name in ("prompt_tokens", "cached_tokens", "cached_tokens_2"))
    return 100 * abs(ours - theirs) / total if total else None


def _welfares(both: pl.DataFrame, cohort: list[str]) -> tuple[float, float]:
    """Σ value × realised priority of both runs; each request of a pass counts with the pass's mean priority."""
    import polars as pl

    columns = ["realised_priority", "realised_priority_2"]
    value, ranks = both["value"].to_numpy(), both.select(pl.col(columns).mean().over([*cohort, "pass"])).to_numpy()
    return float(value @ ranks[:, 0]), float(value @ ranks[:, 1])


def _rates(both: pl.DataFrame) -> tuple[float, float]:
    def rate(suffix: str) -> float:
        arrival, finish = both[f"arrival_s{suffix}"].to_numpy(), both[f"finish_s{suffix}"].to_numpy()
        return both.height / float(finish.max() - arrival.min())

    return rate(""), rate("_2")


def _order_tau(both: pl.DataFrame, cohort: list[str]) -> float | None:
    """1 − 2·(pairs in another order) / pairs, over pairs of one cohort that are not of one pass. O(n log n)."""
    discordant, pairs = 0.0, 0
    for _, members in both.group_by(cohort):
        discordant += _discordant(members)
        pairs += _pairs(members)
        for _, together in members.group_by("pass"):
            discordant -= _discordant(together)
            pairs -= _pairs(together)
    return 1 - 2 * discordant / pairs if pairs else None


def _pairs(rows: pl.DataFrame) -> int:
    return rows.height * (rows.height - 1) // 2


def _discordant(rows: pl.DataFrame) -> float:
    """Pairs in another order; ranks of one run are all different, so Kendall's τ counts them."""
    from scipy.stats import kendalltau

    if rows.height < 2:
        return 0.0
    tau = kendalltau(rows["realised_priority"].to_numpy(), rows["realised_priority_2"].to_numpy()).statistic
    return (1 - float(tau)) / 2 * _pairs(rows)

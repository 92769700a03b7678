"""What an earlier simulation of this auction gave for the same quantities: a second thing to stand beside ours.

It is no measurement of the paper's and decides no verdict. A row that agrees with neither it nor the paper deserves a
second look; one that agrees with it but not with the paper speaks of the simulation both have in common. Stated whole
numbers count as rounded, stated ratios of TTFTs as good to a tenth, as for the paper's own (`sim.reproduce.claims`).
"""

from __future__ import annotations

from collections.abc import Mapping

from sim.reproduce.claims import Range, about_ratio, rounded
from sim.reproduce.experiments import PACING, SHAPES, SHARING

__all__ = ["EARLIER", "earlier_range"]

_LEAD_STARS = rounded(14, 16)
_GAPS = {
    "stars": rounded(17, 23),
    "chains": rounded(19, 27),
    "short trees": rounded(19, 27),
    "long trees": rounded(17, 23),
}
#: (claim, part's label) → the range it gave.
EARLIER: Mapping[tuple[str, str], Range] = {
    ("lead-over-n", "lead, n = 32"): rounded(1),
    ("lead-over-n", "lead, n = Q"): _LEAD_STARS,
    ("lead-over-shapes", "lead, stars"): _LEAD_STARS,
    **{("lead-over-sharing", f"lead, P = {100 * p:.0f} %"): rounded(4, 7) for p in SHARING},
    **{("gap", f"gap, {name}"): _GAPS[name] for name in SHAPES},
    ("ttft-over-shapes", "TTFT bid-sort / dfs-bid, chains"): Range(2.0, 4.0),
    ("ttft-over-shapes", "TTFT bid-sort / dfs-bid, long trees"): Range(9.0, 14.0),
    ("ttft-over-shapes", "TTFT bid-sort / dfs-bid, short trees"): about_ratio(1.0),
    ("slower-until-rho-1", "TTFT ratio, ρ = 0"): about_ratio(1.49),
    ("slower-until-rho-1", "TTFT ratio, ρ = 1"): about_ratio(1.02),
    ("one-cluster-welfare", "gap to bid-sort, worst n"): Range(-0.1, 0.1),
    ("one-cluster-welfare", "dfs-bid over random, n = Q"): rounded(99),
    ("one-cluster-ttft", "TTFT bid-sort / dfs-bid, one cluster"): about_ratio(1.5),
    **{("autobidding", f"welfare against truthful, {name}"): rounded(-7, -2) for name in PACING},
}


def earlier_range(claim: str, label: str) -> Range | None:
    """The range the earlier simulation gave for a claim's part; None where it gave none.

    >>> earlier_range("lead-over-n", "lead, n = Q"), earlier_range("kappa-bound", "auctions below the bound, stars")
    (Range(low=13.5, high=16.5), None)
    """
    return EARLIER.get((claim, label))

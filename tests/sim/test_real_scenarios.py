"""The paper's three workloads on the real data sets, through the simulator: every schedule, Q = n = 1,024, serial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from real_files import needs_shared

from backends.simulated import Simulated
from sim.scenario import load_scenario
from sim.simulate import run

pytestmark = needs_shared

#: 1 − W(dfs-bid)/W(bid-sort), and how much longer bid-sort's TTFT is. The paper has 19–22 % on every shape. Real text
#: gives 15 to 24 %, by how much it begins alike by accident; a narrower bound would be ours and not the paper's.
GAP = (0.12, 0.27)
SLOWDOWN = {"real-mixshare-50": (1.4, 1.7), "real-chains": (2, 8), "real-short-tree": (0.99, 1.01)}
SLOWDOWN["real-long-tree"] = (6, 14)


@pytest.mark.parametrize("name", SLOWDOWN)
def test_a_real_workload_shows_what_the_paper_found(name: str) -> None:
    scenario = load_scenario(name, {"simulated": Simulated}, trials=1)
    schedules: dict[str, Any] = run(scenario, scenario.backend.config, records=False).summary["schedules"]
    assert list(schedules) == ["dfs-bid", "dfs-uniform", "bid-sort", "no-sort"]
    assert all(metrics["statuses"] == {"ok": 1024} for metrics in schedules.values())
    mean = {key: {s: m[key]["mean"] for s, m in schedules.items()} for key in ("welfare", "hit_rate", "mean_ttft_ms")}
    assert GAP[0] < 1 - mean["welfare"]["dfs-bid"] / mean["welfare"]["bid-sort"] < GAP[1]
    assert abs(mean["hit_rate"]["dfs-bid"] - mean["hit_rate"]["dfs-uniform"]) < 0.01
    low, high = SLOWDOWN[name]
    assert low < mean["mean_ttft_ms"]["bid-sort"] / mean["mean_ttft_ms"]["dfs-bid"] < high
    assert np.isfinite(list(mean["welfare"].values())).all()

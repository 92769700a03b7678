"""What a simulation costs, end to end: workload, market, engine, records; DESIGN.md, "Numbers to hold".

Each figure is CPU time (user + system) and peak memory of a fresh process running the product's own command, so
start-up, generation and the Parquet files are in it. The rate is the marginal one between two sizes, which takes
start-up out. Figures of one run compare with each other; across machines only their ratios do.
"""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _bench import BenchRow

SCENARIO = """
name: bench
workload: {kind: stars, num_requests: 100, output_tokens: 64, sharing: 0.5, prefix_tokens: 900, singleton_tokens: 950}
schedule: [dfs-bid]
batching: {size: 256}
dispatch: {in_flight: 16}
backend: {use: simulated, profile: h100-qwen3-32b, kv_tokens: 23000}
"""


def simulate(folder: Path, *overrides: str) -> tuple[float, float, Path]:
    """CPU seconds and peak MB of one `simulate` in a process of its own, and its run folder."""
    scenario = folder / "bench.yaml"
    scenario.write_text(SCENARIO)
    out = Path(tempfile.mkdtemp(dir=folder))
    sets = [word for item in overrides for word in ("--set", item)]
    command = [sys.executable, "-m", "sim", "simulate", scenario, "--no-report", "--quiet", "--out", out, *sets]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, code, usage = os.wait4(process.pid, 0)
    if code:
        raise SystemExit(f"{command} failed")
    (run,) = out.iterdir()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, run


def least(folder: Path, times: int, *overrides: str) -> tuple[float, float]:
    """CPU seconds and peak MB of the quickest of several equal runs: on a shared machine, the least disturbed one."""
    return min(simulate(folder, *overrides)[:2] for _ in range(times))


def rows() -> list[BenchRow]:
    """Measure every end-to-end row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_size_rows(folder), _auction_row(folder), _repeat_row(folder)]


def _size_rows(folder: Path) -> list[BenchRow]:
    small_n, large_n = 10_000, 100_000
    first, _ = least(folder, 5)
    small, small_mb = least(folder, 5, f"workload.num_requests={small_n}")
    large, large_mb = least(folder, 2, f"workload.num_requests={large_n}")
    rate = (large_n - small_n) / (large - small)
    symbols_kb = 4 * 960 / 1024
    each_kb = (large_mb - small_mb) * 1024 / (large_n - small_n) - symbols_kb
    base_mb = small_mb - small_n * (each_kb + symbols_kb) / 1024
    linear = (large - small) / (large_n - small_n) / ((small - first) / (small_n - 100))
    return [
        BenchRow("first result, 100 requests, cold start", f"{first:.2f} CPU-s", "≤ 3 CPU-s", first <= 3),
        BenchRow("marginal rate, 10⁴ → 10⁵ requests", f"{rate:,.0f} requests/CPU-s", "≥ 5,000", rate >= 5000),
        BenchRow("cost of a request at 10⁵ over at 10⁴", f"{linear:.2f}×", "linear (≤ 1.15×)", linear <= 1.15),
        BenchRow("memory a request beyond its symbols", f"{each_kb:.2f} KB", "≤ 4 KB", each_kb <= 4),
        BenchRow("memory base", f"{base_mb:.0f} MB", "≤ 250 MB", base_mb <= 250),
    ]


def _auction_row(folder: Path) -> BenchRow:
    size = "workload.num_requests=20000"
    on, off = (
        min(simulate(folder, size, f"schedule=[{name}]")[0] for _ in range(3)) for name in ("dfs-bid", "no-sort")
    )
    return BenchRow("auction on vs off", f"{on / off:.2f}×", "≤ 1.2×", on / off <= 1.2)


def _repeat_row(folder: Path) -> BenchRow:
    runs = [simulate(folder, "workload.num_requests=2000", "trials=2")[2] for _ in range(2)]
    names = sorted(path.name for path in runs[0].glob("*.parquet"))
    _, different, missing = filecmp.cmpfiles(*runs, names, shallow=False)
    equal = not different and not missing
    return BenchRow("same seed, two processes", "byte-equal" if equal else f"{different} differ", "byte-equal", equal)

"""CASES.md C16: a million rows are read in one pass, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

READ = """
import resource, sys, time
from functools import partial
from pathlib import Path
from sim.rng import stream
from sim.workloads.mooncake import Mooncake

started = time.process_time()
demand = Mooncake(path=Path(sys.argv[1])).generate(partial(stream, 0, 0))
print(len(demand.prompts), time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_c16_a_million_rows(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(1_000_000):
            blocks = 1 + i * 7919 % 20
            ids = list(range(i % 5000 * 50, i % 5000 * 50 + blocks))
            row = {"timestamp": 3 * i, "input_length": 512 * blocks - i % 512, "output_length": 1 + i % 500}
            file.write(json.dumps({**row, "hash_ids": ids}) + "\n")
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    rows, cpu_s, memory_kib = map(float, done.stdout.split())
    assert rows == 1_000_000
    assert cpu_s < 60
    assert memory_kib < 1024 * 1024

"""What importing and describing a trace of a million rows costs (CASES.md C.16): a fresh process each.

The rows are written here: block traces of which two in five prompts begin like an earlier one, 27 blocks each on
average, and a table of lengths.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from _bench import BenchRow

ROWS = 1_000_000
IMPORT = """
import sys
from functools import partial
from pathlib import Path
from sim.plugins import load
from sim.rng import stream
kind, path, rows = sys.argv[1:]
demand = load("sim.workloads", kind)(path=Path(path)).generate(partial(stream, 0, 0))
assert len(demand.prompts) + sum(demand.dropped.values()) == int(rows)
"""


def write_blocks(path: Path, rows: int) -> None:
    """A Mooncake trace."""
    draw = random.Random(0)
    time_ms, fresh = 0, 1
    seen: list[list[int]] = [[0]]
    with path.open("w") as file:
        for _ in range(rows):
            time_ms += draw.randrange(30)
            length = draw.choice((5, 10, 20, 40, 60))
            begin = draw.choice(seen)[: draw.randrange(1, length + 1)] if draw.random() < 0.4 else [0]
            ids = [*begin, *range(fresh, fresh + length - len(begin))]
            fresh += length
            if len(seen) < 5000:
                seen.append(ids)
            else:
                seen[draw.randrange(5000)] = ids
            record = {"timestamp": time_ms, "input_length": 512 * length - draw.randrange(512), "output_length": 300}
            file.write(json.dumps({**record, "hash_ids": ids}) + "\n")


def write_lengths(path: Path, rows: int) -> None:
    """A BurstGPT table."""
    draw = random.Random(0)
    with path.open("w") as file:
        file.write("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
        for second in range(rows):
            prompt, output = draw.randrange(1, 4000), draw.randrange(1000)
            file.write(f"{second // 3},ChatGPT,{prompt},{output},{prompt + output},Conversation log\n")


def measure(*command: str) -> tuple[float, float]:
    """CPU seconds and peak MB of a process."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, code, usage = os.wait4(process.pid, 0)
    if code:
        raise SystemExit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def rows() -> list[BenchRow]:
    """Measure every row."""
    with tempfile.TemporaryDirectory() as name:
        blocks, lengths = Path(name) / "blocks.jsonl", Path(name) / "lengths.csv"
        write_blocks(blocks, ROWS)
        write_lengths(lengths, ROWS)
        return [
            _row("import 10⁶ rows of blocks (mooncake)", "-c", IMPORT, "mooncake", str(blocks), str(ROWS)),
            _row("import 10⁶ rows of lengths (burstgpt)", "-c", IMPORT, "burstgpt", str(lengths), str(ROWS)),
            _row("describe 10⁶ rows of blocks", "-m", "sim", "describe", str(blocks), "--kind", "mooncake", "--json"),
        ]


def _row(what: str, *command: str) -> BenchRow:
    cpu_s, peak_mb = measure(*command)
    met = cpu_s < 60 and peak_mb < 1000
    return BenchRow(what, f"{cpu_s:.1f} CPU-s, {peak_mb:.0f} MB", "< 60 s, < 1 GB", met)

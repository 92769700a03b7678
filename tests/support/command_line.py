"""Run the command line inside the test's process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sim.cli import main

__all__ = ["SMALL", "Done", "run_cli", "write_small"]

SMALL = """\
name: small
trials: 2
workload: {kind: stars, num_requests: 40, output_tokens: 4, cluster_size: 4, prefix_tokens: 60,
  question_tokens: [5, 9], singleton_tokens: 70}
schedule: [dfs-bid, dfs-uniform, bid-sort, no-sort]
batching: {size: 16}
dispatch: {in_flight: 2}
backend: {use: simulated, kv_tokens: 1000}
"""


@dataclass(frozen=True)
class Done:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str


def run_cli(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """`inference-auctions ARGUMENTS…`."""
    before = sys.argv
    sys.argv = ["inference-auctions", *map(str, arguments)]
    capsys.readouterr()
    try:
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    else:
        code = 0
    finally:
        sys.argv = before
    printed = capsys.readouterr()
    return Done(code, printed.out, printed.err)


def write_small(folder: Path, text: str = SMALL) -> Path:
    """A scenario that runs in well under a second."""
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path

"""All pages of some runs: the run page, and a pacing page for each run in which users had budgets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reports.pacing_page import write_pacing_page
from reports.run_page import write_run_page

__all__ = ["write_pages"]


def write_pages(run_dirs: Sequence[Path], out: Path) -> list[Path]:
    """Write the run page to `out` and pacing pages beside it; returns what was written, the run page first.

    The pacing page of `out.html` is `out-pacing.html`; of several runs with budgets, `out-pacing-2.html` and so on.
    Raises what `write_run_page` raises.
    """
    written = [write_run_page(run_dirs, out)]
    paced = [run for run in dict.fromkeys(run.resolve() for run in run_dirs) if (run / "pacing.json").exists()]
    for number, run in enumerate(paced, start=1):
        stem = f"{out.stem}-pacing" + ("" if number == 1 else f"-{number}")
        written.append(write_pacing_page(run, out.with_name(f"{stem}{out.suffix}")))
    return written

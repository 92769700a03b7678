"""What the `kappa` command finds in a batch file or in a run folder."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError
from sim.kappa import KappaOfBatch, read_priced_batch
from sim.kappa_report import KappaReport, report_kappa

__all__ = ["KappaFound", "kappa_of"]


@dataclass(frozen=True)
class KappaFound:
    """Theorem 4.4 on one batch (of a file) or on every auction of a run; `source` is what was read."""

    source: str
    is_run: bool
    batches: tuple[KappaOfBatch, ...]

    def to_json(self) -> dict[str, Any]:
        """The `kappa` JSON of DESIGN.md: of the batch, or of every auction."""
        if not self.is_run:
            return self.batches[0].to_json()
        labels = [(each.priced.schedule, each.priced.trial, each.priced.batch) for each in self.batches]
        rows = zip(labels, self.batches, strict=True)
        return {"auctions": [{"schedule": s, "trial": t, "batch": b, **each.to_json()} for (s, t, b), each in rows]}

    @functools.cached_property
    def report(self) -> KappaReport:
        """The same with everything a person wants to know besides; takes longer."""
        return report_kappa(self.source, self.batches, is_run=self.is_run)


def kappa_of(
    source: Path, tokenizer: str | None, backend_types: Mapping[str, type[Any]], schedule: str | None = None
) -> KappaFound:
    """Read a `.jsonl` file of requests, or rebuild the auctions of a run folder; of one schedule, or of all.

    Raises
    ------
    ScenarioError
        Neither of the two, a file that breaks its format, a run whose workload has changed, or no such schedule.
    """
    if not source.is_dir():
        if schedule is not None:
            raise ScenarioError("--schedule", f"it with the file {source}", "it with a run folder, of whose schedules")
        return KappaFound(str(source), False, (KappaOfBatch.of(read_priced_batch(source, tokenizer)),))
    if tokenizer is not None:
        raise ScenarioError(
            "--tokenizer", "a run folder", "a file of requests", "A run's scenario names its tokenizer."
        )
    from sim.kappa_run import priced_batches

    return KappaFound(str(source), True, tuple(map(KappaOfBatch.of, priced_batches(source, backend_types, schedule))))

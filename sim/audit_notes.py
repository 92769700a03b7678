"""What the reader of an audit must know about the auctions it was held on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanism.model import LooksBack, SchedulingRule
from sim.arrivals import Saturated
from sim.batch_file import BatchFile
from sim.scenario import Scenario

__all__ = ["file_notes", "scenario_notes"]


def file_notes(file: BatchFile, rule: SchedulingRule) -> list[str]:
    """Of a batch file."""
    notes = [] if np.array_equal(file.bid, file.value) else ["The values are the truth: the file's bids are not used."]
    return notes + _past([rule])


def scenario_notes(scenario: Scenario) -> list[str]:
    """Of a scenario."""
    notes = []
    agents = {each.use for entry in scenario.schedules for each in entry.bidding}
    if agents != {"truthful"}:
        names = ", ".join(sorted(agents))
        notes.append(f"The scenario's bidding ({names}) plays no part: lies are compared with bidding the values.")
    if not isinstance(scenario.arrivals, Saturated):
        notes.append(
            "Batches are consecutive requests, as if all waited from the start: those of a run depend on when it is "
            "ready for the next batch."
        )
    return notes + _past([entry.rule for entry in scenario.schedules])


def _past(rules: Sequence[SchedulingRule]) -> list[str]:
    """Rules that look at a run's past have none here."""
    reads = {name for rule in rules if isinstance(rule, LooksBack) for name in rule.reads}
    what = {"resident_tokens": "nothing is in the cache", "served_tokens": "nobody has been served"}
    known = [text for name, text in what.items() if name in reads]
    return [f"Every batch is audited as the first of a run: {' and '.join(known)} yet."] if known else []

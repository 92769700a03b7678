"""The `bidding:` block: what users say; one agent for all, a mix of agents, or one of these for each schedule."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mechanism.model import BiddingAgent
from sim.errors import ScenarioError
from sim.parameters import plain
from sim.scenario_blocks import USE_FOLDERS, choose, find_in
from sim.yaml_source import KeyPath, Source

__all__ = ["BiddingEntry", "plain_bidding", "read_bidding"]


@dataclass(frozen=True, kw_only=True)
class BiddingEntry:
    """One kind of agent and whom it bids for.

    Attributes
    ----------
    use, agent : the bidding plugin.
    share : of the users, in (0, 1]; who they are is drawn once a trial.
    """

    use: str
    agent: BiddingAgent
    share: float


def read_bidding(source: Source, at: KeyPath, raw: Any) -> tuple[BiddingEntry, ...]:
    """The agents of one mechanism, from what stands at `at`: a name, a block, or a list of blocks with shares.

    Entries of a list without a `share` divide equally what the others leave.

    Raises
    ------
    ScenarioError
        An unknown agent, wrong parameters, or shares that are not positive or do not sum to 1.
    """
    if not isinstance(raw, list):
        use, agent = choose(source, at, raw, "use", find_in(USE_FOLDERS["bidding"]))
        return (BiddingEntry(use=use, agent=agent, share=1.0),)
    if not raw:
        raise ScenarioError(source.where(at), "an empty list", "an agent such as truthful, or a list of them")
    shares = _shares(source, at, raw)
    entries = []
    for index, (item, share) in enumerate(zip(raw, shares, strict=True)):
        block = {key: value for key, value in item.items() if key != "share"} if isinstance(item, dict) else item
        use, agent = choose(source, (*at, index), block, "use", find_in(USE_FOLDERS["bidding"]))
        entries.append(BiddingEntry(use=use, agent=agent, share=share))
    return tuple(entries)


def _shares(source: Source, at: KeyPath, items: Sequence[Any]) -> list[float]:
    given: list[float | None] = []
    for index, item in enumerate(items):
        share = item.get("share") if isinstance(item, dict) else None
        number = isinstance(share, int | float) and not isinstance(share, bool)
        if share is not None and not (number and 0 < share <= 1):
            found = json.dumps(share, default=str)
            raise ScenarioError(source.where((*at, index, "share")), found, "a share of the users, above 0 and up to 1")
        given.append(None if share is None else float(share))
    left = 1.0 - math.fsum(share for share in given if share is not None)
    open_ends = given.count(None)
    if abs(left) > 1e-9 if not open_ends else left <= 1e-9:
        expected = "shares that leave users to the agents without one" if open_ends else "shares that sum to 1"
        raise ScenarioError(source.where(at), f"shares that sum to {1.0 - left:g}", expected)
    return [left / open_ends if share is None else share for share in given]


def plain_bidding(entries: Sequence[BiddingEntry]) -> Any:
    """The entries as YAML: a block, or a list of blocks with shares."""
    blocks = [{"use": entry.use, **plain(entry.agent)} for entry in entries]
    if len(blocks) == 1:
        return blocks[0]
    return [{**block, "share": entry.share} for block, entry in zip(blocks, entries, strict=True)]

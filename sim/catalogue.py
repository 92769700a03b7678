"""Everything a scenario can name, by the block that names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim.errors import ScenarioError, did_you_mean
from sim.plugins import available
from sim.scenario_blocks import KIND_FOLDERS, USE_FOLDERS

__all__ = ["catalogue"]


def catalogue(kind: str | None, extra: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Block → names it takes; one block only when `kind` is given.

    Parameters
    ----------
    extra : blocks whose plugins live above this room.

    Raises
    ------
    ScenarioError
        No such kind.

    >>> catalogue("bidding", {})["bidding"][0]
    'from-trace'
    """
    folders = {**KIND_FOLDERS, **USE_FOLDERS}
    names = {block: list(available(at) if isinstance(at, str) else at) for block, at in folders.items()}
    names |= {block: list(entries) for block, entries in extra.items()}
    if kind is None:
        return names
    if kind not in names:
        raise ScenarioError("list KIND", f'"{kind}"', "a block of a scenario", did_you_mean(kind, names))
    return {kind: names[kind]}

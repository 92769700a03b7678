"""Somebody else's `mechanism` on the path: the names of our rooms are not ours alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

__all__ = ["foreign_room"]


def foreign_room() -> str | None:
    """What is wrong, as a sentence, when a room would be imported from elsewhere; None when all are ours.

    Module origins are compared; metadata, which is slow to read, only names the culprit.
    """
    home = Path(__file__).resolve().parent.parent
    for room in ("mechanism", "backends", "reports"):
        found = importlib.util.find_spec(room)
        origin = Path(found.origin).resolve() if found and found.origin else None
        if origin is None or home not in origin.parents:
            from importlib.metadata import packages_distributions

            owners = ", ".join(packages_distributions().get(room, ["an unknown distribution"]))
            return (
                f"the package {room!r} comes from {owners} ({origin}), not from {home}; use an environment "
                "of its own for inference-auctions"
            )
    return None

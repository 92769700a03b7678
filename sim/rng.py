"""Named random streams: every component draws from its own generator, so adding a draw in one moves no other.

A stream is keyed by (seed, trial, name) and nothing else, never by schedule, payment, sweep cell or worker: every
mechanism of a trial meets the same requests, values and arrivals (common random numbers).
"""

from __future__ import annotations

import zlib

import numpy as np

__all__ = ["stream"]


def stream(seed: int, trial: int, name: str) -> np.random.Generator:
    """The generator of one component: PCG64(SeedSequence(seed, spawn_key=(trial, crc32(name)))).

    >>> float(stream(0, 0, "values").random()) == float(stream(0, 0, "values").random())
    True
    >>> float(stream(0, 0, "values").random()) == float(stream(0, 1, "values").random())
    False
    """
    key = (trial, zlib.crc32(name.encode()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))

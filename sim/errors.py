"""Errors of time, memory and input; see `mechanism.errors` for the whole tree."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from mechanism.errors import AuctionsError

__all__ = [
    "BackendError",
    "InvariantError",
    "NothingServedError",
    "ScenarioError",
    "did_you_mean",
]


class ScenarioError(AuctionsError):
    """Bad input: where it stands, what was found, what was expected, what to do.

    Parameters
    ----------
    where : file, line and key as far as known, e.g. ``"scenarios/a.yaml:12: values.shape"``.
    found, expected : what stood there and what may stand there.
    suggestion : the fix, as a sentence; may be empty.
    """

    exit_code = 2

    def __init__(self, where: str, found: str, expected: str, suggestion: str = "") -> None:
        self.where, self.found, self.expected, self.suggestion = where, found, expected, suggestion
        super().__init__(where, found, expected, suggestion)  # what SimPy and pickle make the error anew from

    def __str__(self) -> str:
        tail = f" {self.suggestion}" if self.suggestion else ""
        return f"{self.where}: found {self.found}; expected {self.expected}.{tail}"


class BackendError(AuctionsError):
    """A server that is not ready, or is not what it claims to be."""

    exit_code = 3


class NothingServedError(AuctionsError):
    """The run ended and not one request succeeded."""

    exit_code = 4


class InvariantError(AuctionsError):
    """A promise of the product was broken, or a run makes no progress."""

    exit_code = 5


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, else list what is known; nothing where nothing is.

    >>> did_you_mean("requst_rate", ["request_rate", "burstiness"])
    'Did you mean "request_rate"?'
    """
    names = sorted(known)
    if not names:
        return ""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f'Did you mean "{near[0]}"?' if near else f"Known: {', '.join(names)}."

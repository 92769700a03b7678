"""new_token_ratio: which share of their unused output running requests are assumed to need."""

from __future__ import annotations

__all__ = ["NewTokenRatio"]

INITIAL = 0.7
#: The ratio falls to this share of its initial value, linearly over so many decode passes.
FLOOR_SHARE = 0.14
DECAY_STEPS = 600


class NewTokenRatio:
    """Falls with every decode pass, is raised by a retraction, and is reset when the engine idles.

    The server subtracts one pass at a time; so do we, once per starting value, to have its rounding.

    >>> ratio = NewTokenRatio(1.0)
    >>> ratio.decay(600)
    >>> ratio.value
    0.098
    """

    def __init__(self, conservativeness: float) -> None:
        self._initial = min(INITIAL * conservativeness, 1.0)
        self._floor = min(self._initial * FLOOR_SHARE, 1.0)
        self._step = (self._initial - self._floor) / DECAY_STEPS
        self._from_initial = [self._initial]
        self._values, self._at = self._from_initial, 0

    @property
    def value(self) -> float:
        """The ratio now."""
        return self._values[self._at]

    def decay(self, passes: int = 1) -> None:
        """`passes` decode passes went by."""
        values, at = self._values, self._at + passes
        while len(values) <= at:
            below = values[-1] - self._step
            if below <= self._floor:
                if values[-1] != self._floor:
                    values.append(self._floor)
                at = min(at, len(values) - 1)
                break
            values.append(below)
        self._at = min(at, len(values) - 1)

    def set(self, value: float) -> None:
        """A retraction estimated the ratio anew."""
        self._values, self._at = [min(1.0, value)], 0

    def reset(self) -> None:
        """The engine is idle."""
        self._values, self._at = self._from_initial, 0

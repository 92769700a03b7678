"""A scheduling rule from outside the repository that has a parameter without a default."""

from dataclasses import dataclass

__all__ = ["NeedsStep"]


@dataclass(frozen=True)
class NeedsStep:
    """Never run."""

    step: float

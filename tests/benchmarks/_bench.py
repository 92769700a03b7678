"""What every benchmark reports."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BenchRow"]


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One line of the table: what was measured, the figure, its bar in DESIGN.md, and whether it is met."""

    what: str
    measured: str
    bar: str
    met: bool

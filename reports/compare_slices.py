"""Settings along one axis or across two, with the other axes held at the same values for every point."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.compare import Comparison, Setting
from sim.compare_keys import word

__all__ = ["Slices", "slices"]

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slices:
    """What a figure over some axes averages.

    Attributes
    ----------
    at : values of the drawn axes, as texts → the settings there, one for each slice; a key is absent where there is
        none.
    averaged : slices averaged at every point; 0 = no slice is whole, so that settings must be drawn one by one.
    left_out : slices with a hole, which would bend the averages.
    """

    at: Mapping[Key, Sequence[Setting]]
    averaged: int
    left_out: int

    @property
    def note(self) -> str:
        """What was averaged and what was left out, in words; empty when nothing was."""
        if self.averaged == 0:
            return "Each mark is one setting; the other axes vary from mark to mark, so nothing is averaged or joined."
        if self.averaged == 1 and not self.left_out:
            return ""
        holes = f"; {self.left_out:,} with a hole are left out" if self.left_out else ""
        return f"Means over {self.averaged:,} combinations of the other axes, trial by trial{holes}."


def slices(comparison: Comparison, axes: Sequence[int]) -> Slices:
    """Cut the settings along the axes of these indices.

    A slice is one combination of the other axes. With a single slice its holes stay holes; of several, only whole
    ones are averaged, so that every point stands for the same combinations.
    """
    found: dict[Key, dict[Key, Setting]] = {}
    for setting in comparison.settings:
        words = tuple(map(word, setting.values))
        other = tuple(text for place, text in enumerate(words) if place not in axes)
        if setting.rows:
            found.setdefault(other, {})[tuple(words[place] for place in axes)] = setting
    keys = list(itertools.product(*(comparison.axes[place].words for place in axes)))
    if len(found) == 1:
        whole = list(found.values())
    else:
        everybody = len(comparison.contenders)
        whole = [cut for cut in found.values() if all(key in cut and len(cut[key].rows) == everybody for key in keys)]
    at = {key: [cut[key] for cut in whole if key in cut] for key in keys}
    return Slices({key: there for key, there in at.items() if there}, len(whole), len(found) - len(whole))

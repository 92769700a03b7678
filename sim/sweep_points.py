"""The points of a sweep as scenarios, made when they are asked for."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, overload

from sim.errors import ScenarioError
from sim.scenario import Scenario, open_scenario, override, scenario_of
from sim.sweep import Point
from sim.sweep_block import SweepBlock
from sim.sweep_cell import plain_json
from sim.sweep_design import Design, SweepOptions, read_design
from sim.sweep_progress import cells_bar
from sim.yaml_source import Source

__all__ = ["SweepPoints", "check_scenario", "setting_text"]


class SweepPoints(Sequence[Point]):
    """Every point of a design over one scenario; making one checks it and takes milliseconds, keeping none is free.

    A point that is wrong is a ScenarioError that says where the value stands and the point's settings.
    """

    def __init__(self, source: Source, design: Design, backend_types: Mapping[str, type[Any]]) -> None:
        self.base = {key: value for key, value in source.data.items() if key != "sweep"}
        self._source = Source(source.file, self.base, source.origins)
        self.design, self._backend_types = design, backend_types

    def __len__(self) -> int:
        return len(self.design)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...
    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        settings = self.design.settings(index)
        try:
            return Point(settings, self._scenario(index))
        except ScenarioError as error:
            said = ", ".join(f"{key}={setting_text(value)}" for key, value in settings.items())
            where = f"{error.where} (point {index}: {said})"
            raise ScenarioError(where, error.found, error.expected, error.suggestion) from None

    def _scenario(self, index: int) -> Scenario:
        base = self._source
        source = Source(base.file, copy.deepcopy(base.data), dict(base.origins))
        for key, value, origin in self.design.overrides(index):
            source.put(tuple(key.split(".")), copy.deepcopy(value), origin)
        return scenario_of(source, self._backend_types)


def setting_text(value: Any) -> str:
    """A value as one would type it after ``--set key=``."""
    spelled = plain_json(value)
    return spelled if isinstance(spelled, str) else json.dumps(spelled, ensure_ascii=False)


def check_scenario(
    path: str, backend_types: Mapping[str, type[Any]], overrides: Sequence[str], backend: str | None
) -> tuple[Scenario, int]:
    """A scenario as `load_scenario` gives it, and how many points its `sweep:` block has, all of them checked.

    A bar on a terminal's stderr says how far it is.

    Raises
    ------
    ScenarioError
        What is wrong with the scenario, its block or any point.
    """
    source = open_scenario(path, backend)
    for each in overrides:
        override(source, each)
    scenario = scenario_of(source, backend_types)
    if scenario.sweep == SweepBlock():
        return scenario, 0
    points = SweepPoints(source, read_design(source, SweepOptions()), backend_types)
    with cells_bar("checking points", show=True) as progress:
        for number, _ in enumerate(points, start=1):
            progress(number, 0, len(points))
    return scenario, len(points)

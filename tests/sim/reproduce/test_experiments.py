"""Which cells a figure needs: each once, in the settings it is shown in, from scenarios that load."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_files import SHARED, needs_shared

from backends.simulated import Simulated
from sim.errors import ScenarioError
from sim.reproduce.engine_settings import SETTINGS
from sim.reproduce.experiments import FIGURES, QUEUE, SHAPES, scenario_of, stars
from sim.reproduce.reproduction import Plan
from sim.reproduce.text_source import SYNTHETIC, real_text

BACKENDS = {"simulated": Simulated}


def test_points_that_figures_share_run_once() -> None:
    # n: 6, P: 5 less n = 256, ρ: 5 less n = Q → 14; shapes: 3 more; one cluster: 6; budgets: 3 in one setting
    plan = Plan(figures=tuple(FIGURES), out=Path("nowhere"))
    points = plan.points()
    assert len(points) == len(set(points)) == (14 + 3 + 6) * 3 + 3
    assert SHAPES["stars"] == stars(QUEUE)
    assert [experiment.shape for experiment, _ in points[:3]] == ["pacing-stars", "pacing-chains", "pacing-trees"]


def test_settings_are_what_they_are_called() -> None:
    found = {}
    for setting in SETTINGS:
        scenario = scenario_of(SHAPES["chains"], setting, SYNTHETIC, BACKENDS, seed=3, trials=2)
        outputs, chunk = scenario.workload.output_tokens, scenario.backend.config.chunked_prefill_tokens  # type: ignore[attr-defined]
        found[setting.name] = (scenario.dispatch.in_flight, outputs, chunk)
        assert (scenario.seed, scenario.trials, scenario.batching.size) == (3, 2, QUEUE)
    assert found == {"serial": (1, 1, 8192), "window-4": (4, 1, 8192), "queue": (None, 16, 8192)}


@pytest.mark.parametrize("figure", FIGURES)
def test_every_cell_of_synthetic_text_loads(figure: str) -> None:
    for each in FIGURES[figure].experiments():
        for setting in FIGURES[figure].settings:
            scenario = scenario_of(each, setting, SYNTHETIC, BACKENDS, seed=0, trials=1)
            assert {s.use for s in scenario.schedules} <= {"dfs-bid", "dfs-uniform", "bid-sort", "no-sort"}


@needs_shared
def test_every_cell_of_real_text_loads() -> None:
    text = real_text(SHARED)
    for figure in FIGURES.values():
        for each in figure.experiments():
            scenario = scenario_of(each, figure.settings[-1], text, BACKENDS, seed=0, trials=1)
            assert scenario.workload_kind in {"squad-gsm8k", "swe-agent", "tree-of-thought"}


def test_a_folder_without_the_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"no squad/dev-v2\.0\.json"):
        real_text(tmp_path)

"""Figures as PNG: colours of the light palette; kaleido and a browser where they are there."""

import importlib.util
from pathlib import Path

import pytest
from browser_kit import CHROMIUM
from compare_kit import GRID, write_sweep

from reports.chart import Chart, axis, figure
from reports.compare_page import write_compare_pngs
from reports.png import png_writer
from sim.compare import compare
from sim.errors import ScenarioError


def test_without_kaleido_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ScenarioError, match=r"pip install -e '\.\[png\]'"):
        png_writer()


def test_every_figure_of_the_page_goes_to_the_writer(tmp_path: Path) -> None:
    seen: list[Chart] = []

    def writer(charts: list[Chart], folder: Path) -> list[Path]:
        seen.extend(charts)
        return [folder / f"{chart.key}.png" for chart in charts]

    paths = write_compare_pngs(compare([write_sweep(tmp_path / "s", GRID)]), tmp_path / "png", writer)
    names = {path.name for path in paths}
    assert {"front.png", "level-batching.size-hit_rate.png", "winner-batching.size-workload.sharing.png"} <= names
    assert len(names) == len(seen)


@pytest.mark.browser
def test_a_png_is_written_in_the_light_palette(tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="kaleido is not installed: pip install -e '.[png]'")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    look = {"x": [1, 2], "y": [1, 2], "line": {"color": "var(--s0)"}, "type": "scatter"}
    drawn = Chart(key="one", title="One", figure=figure([look], x=axis("x"), y=axis("y")), height=200)
    paths = png_writer()([drawn, Chart(key="none", title="None", missing="nothing")], tmp_path / "png")
    assert [path.name for path in paths] == ["one.png"]
    header = paths[0].read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
    assert (width, height) == (1800, 2 * (200 + 42))

from pathlib import Path

import pytest
from run_folders import edit_json, write_run

from reports.figures.tree import first_levels
from reports.load import load_runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_the_icicle_has_every_node_in_order(folder: Path) -> None:
    (chart,) = first_levels(load_runs([folder]))
    trace = chart.figure.data[0]
    assert trace.parents == ("", "0", "1", "1", "0", "0")
    assert trace.values == (4, 2, 1, 1, 1, 1)
    assert trace.sort is False
    assert trace.labels[1:3] == ("2 requests", "1 request")
    assert "shared prefix: 80 tokens" in trace.customdata[1]
    assert "shared prefix" not in trace.customdata[2]


def test_summed_subtrees_say_how_many(folder: Path) -> None:
    edit_json(folder / "tree.json", lambda tree: tree["nodes"][5].update(merged=12, requests=30))
    assert first_levels(load_runs([folder]))[0].figure.data[0].labels[5] == "12 more subtrees, 30 requests"


@pytest.mark.parametrize("bid", [0.0, 3.0, None])
def test_equal_bids_of_any_size_have_a_colour_and_no_scale(folder: Path, bid: float | None) -> None:
    edit_json(folder / "tree.json", lambda tree: [node.update(average_bid=bid) for node in tree["nodes"]])
    marker = first_levels(load_runs([folder]))[0].figure.data[0].marker
    assert len(set(marker.colors)) == 1
    assert marker.showscale is False


def test_a_bid_of_zero_shares_the_lowest_colour(folder: Path) -> None:
    edit_json(folder / "tree.json", lambda tree: tree["nodes"][5].update(average_bid=0.0))
    marker = first_levels(load_runs([folder]))[0].figure.data[0].marker
    assert marker.colors[5] == marker.colors[4] == 0.0
    assert marker.colorbar.ticktext == ("≤ 1", "2", "4")


def test_a_run_without_a_tree_says_so(folder: Path) -> None:
    (folder / "tree.json").unlink()
    (chart,) = first_levels(load_runs([folder]))
    assert chart.figure is None
    assert "tree.json" in chart.missing

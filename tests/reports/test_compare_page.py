"""The comparison page: verdict first, a table for every figure, what is missing; and a real browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser_kit import Visit
from compare_kit import GRID, grid_metrics, scenario, write_plain_run, write_sweep
from page_kit import Page

from reports.compare_look import Shown
from reports.compare_page import write_compare_page
from reports.text import Unit
from sim.compare import compare
from sim.compare_stats import interval_of

SECTIONS = ["verdict", "levels", "differences", "maps", "front", "settings", "trust", "terms"]
HOSTILE = '</script><b>x & "y"'


def render(folder: Path, *sources: Path, baseline: str | None = None) -> Page:
    return Page(write_compare_page(compare(list(sources), baseline), folder / "pages" / "compare.html"))


def figures(page: Page) -> dict[str, Any]:
    names = re.findall(r'<script type="application/json" id="([^"]+)-data">', page.source)
    return dict(zip(names, page.blocks, strict=True))


def run(folder: Path, place: str = "r", schedules: tuple[str, ...] = ("dfs-bid", "bid-sort"), **changes: Any) -> Path:
    trials = {label: [grid_metrics({}, label, trial) for trial in (0, 1)] for label in schedules}
    return write_plain_run(folder / place, scenario(schedules, **changes), trials)


def test_two_axes_have_every_section_and_their_numbers(tmp_path: Path) -> None:
    page = render(tmp_path, write_sweep(tmp_path / "s", GRID))
    assert page.sections == SECTIONS
    for words in (
        "toy-sweep · 1 sweep",
        "bid-sort has the highest welfare at 4 of 6 settings, dfs-bid at 2;",
        "Over batching.size it flips: dfs-bid at 16, bid-sort at 64 to 256.",
        "Few trials (n = 2)",
        "Means over 6 of 6 settings, with 95 % t intervals over trials",
        "n = 2 trials a setting and schedule, from the base seed 0.",
        "Engine setting: serial",
        "Backend: simulated, profile tiny, rules of SGLang 0.5.9, KV tokens 1,000.",
        "mean over the settings Welfare over random bid-sort +5 pp −8 to +18 +4.0 to +6.0 2 no difference told",
        "2,000 resamples, fixed seed",
    ):
        assert words in page.text.replace("\xa0", " ")
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())


def test_the_lines_are_the_tables(tmp_path: Path) -> None:
    """dfs-bid has +10, +13 at every size: 11.5; bid-sort 11.5 − 1, + 2, + 14, each the mean of two sharings."""
    found = figures(render(tmp_path, write_sweep(tmp_path / "s", GRID)))
    dfs, bid = found["level-batching.size-welfare_pct_over_random"]["data"]
    assert (dfs["y"], bid["y"]) == ([11.5] * 3, [10.5, 13.5, 25.5])
    layout = found["level-batching.size-welfare_pct_over_random"]["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["ticktext"] == ["16", "64", "256"]
    [gap] = found["difference-batching.size-welfare_pct_over_random"]["data"]
    assert gap["y"] == [-1, 2, 14]
    assert gap["error_y"]["array"] == pytest.approx([12.7062] * 3, rel=1e-5)  # t(1) × a standard error of 1
    [over] = found["difference-all-welfare_pct_over_random"]["data"]
    assert (over["x"], over["error_x"]["array"]) == ([5], [pytest.approx(12.7062, rel=1e-5)])


def test_maps_show_who_wins_and_what_is_missing(tmp_path: Path) -> None:
    page = render(tmp_path, write_sweep(tmp_path / "s", GRID, absent={1: "no room", 4: None}))
    found = figures(page)
    heat, *keys, holes = found["winner-batching.size-workload.sharing"]["data"]
    assert heat["z"] == [[0, 1, None], [None, 1, 1]]
    assert heat["text"] == [["~", "~", ""], ["", "~", ""]]  # told at 256 only
    assert [key["name"] for key in keys] == ["dfs-bid", "bid-sort"]
    assert list(zip(holes["x"], holes["y"], strict=True)) == [(2, 0), (0, 1)]
    gap = found["difference-batching.size-workload.sharing-welfare_pct_over_random-bid-sort-1"]["data"][0]
    assert gap["text"] == [["(−1.0)", "(+2.0)", ""], ["", "(+2.0)", "+14.0"]]
    assert (gap["zmin"], gap["zmax"]) == (-14, 14)
    for words in ("2 without a result.", "cell 1 batching.size=16, workload.sharing=0.9 no room", "not run yet"):
        assert words in page.text
    assert "simulate toy.yaml --set trials=2 --set batching.size=16 --set workload.sharing=0.9" in page.text


def test_a_slice_with_a_hole_is_left_out_of_averages(tmp_path: Path) -> None:
    found = figures(render(tmp_path, write_sweep(tmp_path / "s", GRID, absent={1: None})))
    assert found["level-batching.size-hit_rate"]["data"][0]["y"] == [10.0] * 3  # sharing 0.1 alone, in %


def test_runs_alone_are_set_side_by_side_with_links(tmp_path: Path) -> None:
    page = render(tmp_path, run(tmp_path))
    assert page.sections == [name for name in SECTIONS if name != "maps"]
    assert "../r/report.html" in page.addresses
    assert "Latencies of the profile tiny are derived from tables, not from a live server" in page.text
    front = figures(page)["front"]["data"]
    assert any('<a href="../r/report.html">' in text for trace in front for text in trace.get("text", ()))
    assert all("/" not in page_address[:1] for page_address in page.addresses)


def test_drawn_points_are_marks_not_lines(tmp_path: Path) -> None:
    axes = {"batching.size": [16, 31, 77, 100], "workload.sharing": [0.3, 0.9, 0.1, 0.2]}
    page = render(tmp_path, write_sweep(tmp_path / "s", axes, design="random"))
    assert "maps" not in page.sections
    assert {trace["mode"] for trace in figures(page)["level-batching.size-hit_rate"]["data"]} == {"markers"}
    assert "nothing is averaged or joined" in page.text


def test_one_schedule_has_lines_and_no_differences(tmp_path: Path) -> None:
    page = render(tmp_path, write_sweep(tmp_path / "s", {"dispatch.in_flight": [1, None]}, schedules=("dfs-bid",)))
    assert "differences" not in page.sections
    assert "Only dfs-bid was run" in page.text
    layout = figures(page)["level-dispatch.in_flight-hit_rate"]["layout"]
    assert layout["xaxis"]["ticktext"] == ["1", "null"]


def test_each_of_two_runs_has_its_own_link(tmp_path: Path) -> None:
    runs = [run(tmp_path, f"r{tokens}", ("dfs-bid",), backend__kv_tokens=tokens) for tokens in (1, 2)]
    page = render(tmp_path, *runs)
    assert page.addresses.count("../r1/report.html") == page.addresses.count("../r2/report.html") == 2
    assert "Nothing tells it from backend.kv_tokens=2" in page.text


def test_requests_that_differ_are_said_to(tmp_path: Path) -> None:
    page = render(tmp_path, run(tmp_path, "a", ("dfs-bid",)), run(tmp_path, "b", ("bid-sort",), seed=1))
    assert "Not paired: dfs-bid was not run at 1 setting." in page.text
    assert "Nobody met the baseline's requests." in page.text.replace("&#39;", "'")


def test_hostile_names_are_text(tmp_path: Path) -> None:
    names = (f"{HOSTILE}1", f"{HOSTILE}2")
    page = render(tmp_path, write_sweep(tmp_path / "s", GRID, schedules=names))
    tame = render(tmp_path, write_sweep(tmp_path / "t", GRID, schedules=("a1", "a2")))
    assert page.tags.count("script") == tame.tags.count("script")
    assert "b" not in page.tags
    assert HOSTILE in page.text


def test_drawn_values_and_holes_are_for_readers(tmp_path: Path) -> None:
    axes = {"workload.sharing": [0.123456789, 0.987654321], "values": [{"kind": "a"}, {"kind": "b"}]}
    folder = write_sweep(tmp_path / "s", axes, design="random", absent={1: "no room"})
    page = render(tmp_path, folder)
    assert "workload.sharing=0.123457" in page.text
    assert 'workload.sharing=0.987654, values={"kind": "b"}' in page.text
    table = page.source.partition('<section id="settings"')[2].partition('<section id="trust"')[0]
    assert "0.123456789" not in re.sub(r"<code>.*?</code>", "", table, flags=re.DOTALL)


def test_zero_is_seen_and_the_top_label_has_room(tmp_path: Path) -> None:
    """The best point of the grid has 25.5, the worst 10.5: Plotly's own range would end just above the former."""
    found = figures(render(tmp_path, write_sweep(tmp_path / "s", GRID)))
    [zero] = found["difference-all-welfare_pct_over_random"]["layout"]["shapes"]
    assert zero["line"] == {"color": "var(--ink)", "width": 1.5}
    low, high = found["front"]["layout"]["yaxis"]["range"]
    assert (low, high) == pytest.approx((10.5 - 0.06 * 15, 25.5 + 0.16 * 15))
    assert found["front"]["data"][-1]["cliponaxis"] is False


def test_keys_in_definitions_are_code(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    content = json.loads((folder / "sweep.json").read_text())
    content["definitions"] = {"goodput": "Every target of `slo` & <b>.", "odd": "one ` alone"}
    (folder / "sweep.json").write_text(json.dumps(content))
    source = render(tmp_path, folder).source
    assert "<dd>Every target of <code>slo</code> &amp; &lt;b&gt;.</dd>" in source
    assert "<dd>one ` alone</dd>" in source


def test_the_whole_page_is_the_same_twice(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "s", GRID)
    assert render(tmp_path, folder).source == render(tmp_path, folder).source


@pytest.mark.parametrize(
    ("values", "told"),
    [([0.5, 0.5], "50 %"), ([0.5], "50 %"), ([0.4, 0.6], "50 % (−77 to 177)"), ([], "not reported")],
)
def test_texts_have_the_digits_of_their_interval(values: list[float], told: str) -> None:
    shown = Shown("hit_rate", "Hit rate", 1, Unit("%", 100.0, delta="pp").for_values(values))
    assert shown.text(interval_of(values)) == told


@pytest.mark.slow
def test_a_thousand_cells_stay_a_page_that_opens(tmp_path: Path) -> None:
    axes = {"batching.size": list(range(16, 176, 16)), "workload.sharing": [n / 10 for n in range(10)]}
    axes["backend.kv_tokens"] = [1000 * 2**n for n in range(10)]
    folder = write_sweep(tmp_path / "s", axes, schedules=("dfs-bid", "bid-sort", "no-sort", "fair"), num_trials=10)
    page = render(tmp_path, folder)
    assert len(page.source.encode()) < 10_000_000
    assert "The first 120 of" in page.text


@pytest.mark.browser
@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_it_opens_offline_without_an_error(browser, tmp_path: Path, theme: str, width: int) -> None:  # type: ignore[no-untyped-def]
    folder = write_sweep(tmp_path / "s", GRID, absent={1: "no room"})
    path = write_compare_page(compare([folder]), tmp_path / "c.html")
    visit = Visit(browser, path, theme=theme, width=width)
    assert [each.get_attribute("id") for each in visit.page.query_selector_all("section")] == SECTIONS
    reading = visit.page.query_selector(".reading").bounding_box()
    assert reading["y"] + reading["height"] < 800  # in the first screen
    for picker in visit.page.query_selector_all(".picker"):
        for choice in picker.query_selector_all(":scope > label")[:2]:
            choice.scroll_into_view_if_needed()
            choice.click()
            plot = choice.evaluate_handle("label => label.nextElementSibling.querySelector('.plot')").as_element()
            plot.scroll_into_view_if_needed()
            visit.page.wait_for_function("plot => plot.dataset.drawn", arg=plot)
            assert plot.get_attribute("data-drawn") == theme
            assert 250 < plot.query_selector(".main-svg").bounding_box()["width"] <= width
    visible = visit.page.evaluate("[...document.querySelectorAll('.panel')].filter(p => p.offsetHeight > 0).length")
    assert visible == 3  # one of each picker
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.said == []
    assert visit.asked == [visit.address]
    visit.context.close()
    assert json.dumps(figures(Page(path)))

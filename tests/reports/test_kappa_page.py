"""The κ page: its first screen, its numbers by hand, strict JSON, hostile names; and once in a real browser."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_kit import Visit
from kappa_kit import FOUR, priced
from page_kit import Page

from reports.kappa_page import write_kappa_page
from sim.kappa import KappaOfBatch
from sim.kappa_report import KappaReport, report_kappa

SECTIONS = ["verdict", "batches", "tree", "pairs", "users", "depth", "excluded", "terms"]
TRUTHFUL = [{**row, "bid": row["value"]} for row in FOUR]
HOLE = [{**row, "bid": 0.0} if row["user"] == "u2" else row for row in FOUR]
HOSTILE = '</script><b>x & "y"'


def run_of(*batches: list, schedules: tuple[str, ...] = ("dfs-bid", "no-sort")) -> list[KappaOfBatch]:
    return [
        priced(rows, schedule=schedule, trial=0, batch=number, by_average_bid=schedule == schedules[0])
        for schedule in schedules
        for number, rows in enumerate(batches)
    ]


def render(folder: Path, found: list[KappaOfBatch], *, is_run: bool, source: str = "a/b.jsonl") -> Page:
    report = report_kappa(source, found, is_run=is_run)
    return Page(write_kappa_page(report, folder / "pages" / "kappa.html"))


def figures(page: Page) -> dict[str, Any]:
    names = re.findall(r'<script type="application/json" id="([\w-]+)-data">', page.source)
    return dict(zip(names, page.blocks, strict=True))


def test_a_batch_has_every_section_and_its_numbers(tmp_path: Path) -> None:
    page = render(tmp_path, [priced(FOUR)], is_run=False)
    assert page.sections == SECTIONS
    for words in (
        "46.4 % guaranteed, 78.6 % realised; 53 % of the possible loss sits at one node",
        "Guaranteed 46.4 % Theorem 4.4; its simple form, 1/max κ, says 41.7 %",
        "Guaranteed pair by pair 67.9 %",
        "Lost 21.4 % of 4.667, the best DFS welfare",
        "Largest κ 2.4 of 2 nodes",
        "root 0 4 2 2.4 42.9 % 25.0 % 25.0 % 21.4 %",
        "node 2 1 3 3 2 57.1 % 28.6 % 7.1 % 0 %",
        "the root request 4 of u4 worth 1, bids 2 (× 2) 3 requests worth 2, bids 1.667 (× 0.8333) 21.43 %",
        "u2 1 2 0.5000 21.43",
        "None: whatever has value bids, and whatever bids has value.",
    ):
        assert words in page.text
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())


def test_the_figures_show_what_the_tables_say(tmp_path: Path) -> None:
    found = figures(render(tmp_path, [priced(FOUR)], is_run=False))
    assert set(found) == {"kappa-tree", "slack", "user-costs", "depth-nodes", "depth-welfare"}
    edges, circles = found["kappa-tree"]["data"]
    assert circles["text"] == ["κ 2.4, 25.0 %", "κ 2, 28.6 %"]
    sizes = circles["marker"]["size"]
    assert sizes[1] > sizes[0]
    assert len(edges["x"]) == 5
    lost, pairs, rest = (bar["x"] for bar in found["slack"]["data"])
    assert found["slack"]["data"][0]["y"] == ["node 2", "root"]
    assert lost == pytest.approx([0, 300 / 14])
    assert pairs == pytest.approx([100 / 14, 50 / 14])
    assert rest == pytest.approx([300 / 14, 0], abs=1e-5)
    assert found["user-costs"]["data"][0]["x"] == pytest.approx([300 / 14] * 2)
    assert [bar["name"] for bar in found["depth-nodes"]["data"]] == ["κ ≤ 2", "κ ≤ 5"]
    assert found["depth-nodes"]["data"][0]["x"] == ["0", "1"]


def test_a_run_is_drawn_batch_by_batch(tmp_path: Path) -> None:
    page = render(tmp_path, run_of(FOUR, TRUTHFUL, HOLE), is_run=True, source="runs/r1")
    assert page.sections == SECTIONS
    found = figures(page)
    diagonal, marks = found["bound-realised"]["data"]
    assert marks["x"] == pytest.approx([650 / 14, 100, 200 / 14])
    assert marks["y"] == pytest.approx([1100 / 14, 100, 1000 / 14])  # the zero bid falls behind the last of the three
    assert diagonal["x"] == diagonal["y"]
    realised, pairs, bound = (line["y"] for line in found["course-0"]["data"])
    assert all(a >= b >= c for a, b, c in zip(realised, pairs, bound, strict=True))
    for words in (
        "no-sort, if served by average bid 3",
        "no-sort serves otherwise",
        "dfs-bid, batch 2 of trial 0: the batch with the largest possible loss.",
        "1 of 3 children are worth something and bid nothing",
        "Nothing is guaranteed at 1 node",
    ):
        assert words in page.text


def test_every_schedule_can_be_picked_the_worst_first(tmp_path: Path) -> None:
    found = [
        priced(rows, schedule=schedule, trial=0, batch=0)
        for schedule, rows in (("truth", TRUTHFUL), ("mild", FOUR), ("hole", HOLE))
    ]
    page = render(tmp_path, found, is_run=True)
    assert page.tags.count("input") == 3
    labels = re.findall(r'<label for="schedule-(\d)">(.*?)</label>', page.source)
    assert labels == [("0", "hole"), ("1", "mild"), ("2", "truth")]
    names = set(figures(page))
    assert {"kappa-tree", "kappa-tree-1", "slack", "slack-1", "user-costs", "user-costs-1"} <= names
    assert "mild, batch 0 of trial 0: the batch with the largest possible loss." in page.text
    assert "input" not in render(tmp_path, [priced(FOUR)], is_run=False).tags


def test_a_batch_below_its_bound_is_an_alarm(tmp_path: Path) -> None:
    """It cannot be; the page must show it if it is."""
    good, bad = run_of(FOUR, FOUR, schedules=("dfs-bid",))
    bad = replace(bad, bound=replace(bad.bound, lost=np.array([6.0, 8.0])))
    page = render(tmp_path, [good, bad], is_run=True)
    assert "Bug: 1 of 2 batches were realised below their bound, which is impossible." in page.text
    red = figures(page)["bound-realised"]["data"][-1]
    assert (red["marker"]["color"], red["y"], len(red["x"])) == ("var(--alarm)", [0], 1)
    clean = render(tmp_path, [good, good], is_run=True)
    assert "Bug" not in clean.text
    assert "var(--alarm)" not in json.dumps(clean.blocks)


@pytest.mark.parametrize("rows", [FOUR[:1], TRUTHFUL, [{**row, "value": 0.0} for row in FOUR]])
def test_where_nothing_can_be_lost_the_page_says_so(tmp_path: Path, rows: list) -> None:
    page = render(tmp_path, [priced(rows)], is_run=False)
    assert page.sections == SECTIONS
    assert "No pair of siblings is served in the wrong order." in page.text
    assert "No user's pacing costs anything." in page.text


def test_a_run_without_auctions_is_a_page_too(tmp_path: Path) -> None:
    page = render(tmp_path, [], is_run=True)
    assert page.sections == SECTIONS
    assert "The run held no auction" in page.text


def test_hostile_names_are_text(tmp_path: Path) -> None:
    rows = [{**row, "user": f"{HOSTILE}{row['user']}"} for row in FOUR]
    page = render(tmp_path, [priced(rows, schedule=HOSTILE, trial=0, batch=0)] * 2, is_run=True, source=HOSTILE)
    plain = render(tmp_path, [priced(FOUR, schedule="s", trial=0, batch=0)] * 2, is_run=True)
    assert page.tags.count("script") == plain.tags.count("script")
    assert "b" not in page.tags
    assert f"request 4 of {HOSTILE}u4" in page.text
    assert {address[0] for address in page.addresses if address != "data:,"} == {"#"}


def test_many_batches_and_users_stay_a_small_page(tmp_path: Path) -> None:
    rows = [{"user": f"u{n}", "bid": n * 1.0, "value": 60.0 - n, "tokens": [n]} for n in range(60)]
    one = priced(rows, schedule="dfs-bid", trial=0, batch=0)
    many = report_kappa("run", [one], is_run=True)
    group = replace(many.groups[0], batches=many.groups[0].batches * 3000)
    page = Page(write_kappa_page(replace(many, groups=(group,)), tmp_path / "k.html"))
    assert len(page.source.encode()) < 3_000_000
    assert "1,500 batches far above their bound are not drawn." in page.text
    assert "One batch in 2 is drawn." in page.text
    assert "40 of 60 users, the costliest first." in page.text


@pytest.mark.browser
@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_it_opens_offline_without_an_error(browser, tmp_path: Path, theme: str, width: int) -> None:  # type: ignore[no-untyped-def]
    report: KappaReport = report_kappa("runs/r1", run_of(HOLE, FOUR, TRUTHFUL), is_run=True)
    visit = Visit(browser, write_kappa_page(report, tmp_path / "k.html"), theme=theme, width=width)
    assert set(visit.draw_all()) == {theme}
    sections = visit.page.query_selector_all("section")
    assert [section.get_attribute("id") for section in sections] == SECTIONS
    assert all(section.is_visible() and section.bounding_box()["height"] > 60 for section in sections)
    assert len(visit.page.query_selector_all(".plot .main-svg")) >= 7
    tree = visit.page.query_selector("#kappa-tree").bounding_box()
    visit.page.query_selector("label[for=schedule-1]").click()
    assert not visit.page.query_selector("#kappa-tree").is_visible()
    assert set(visit.draw_all()) == {theme}
    assert visit.page.query_selector("#kappa-tree-1").bounding_box()["width"] == tree["width"]
    assert visit.page.query_selector("#excluded .of-1").is_visible()
    assert not visit.page.query_selector("#excluded .of-0").is_visible()
    visit.page.evaluate("scrollTo(0, 0)")
    reading = visit.page.query_selector(".of-1 .reading").bounding_box()
    assert reading["y"] + reading["height"] < 800  # in the first screen
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.said == []
    assert visit.asked == [visit.address]
    visit.context.close()

"""The pacing page: the verdict first, numbers by hand, broken promises as alarms, and once in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser_kit import Visit

from reports.figures.budgets import growth
from reports.pacing_page import write_pacing_page
from sim.errors import ScenarioError
from sim.pacing_summary import PACING_DEFINITIONS


def user(name: str, budget: float) -> dict[str, Any]:
    course = {
        "auction": [0, 1],
        "multiplier": [None, 0.5],
        "spent": [0.0, budget / 2],
        "utility": [0.0, 3.0],
        "bound": [1.0, 4.0],
    }
    return {
        "user": name,
        "period": 0,
        "horizon": 2,
        "budget": budget,
        "spent": budget / 2,
        "utility": 3.0,
        "bound": 4.0,
        "mu": 1.0,
        "regret": 1.0,
        "curve": course,
    }


def folder(home: Path, *, overspent: int = 0, fit: Any = None, renews: bool = False, **changes: Any) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    cell = {
        "schedule": "paced",
        "trial": 0,
        "auctions": {"welfare": [8.0, 9.0], "best_welfare": [10.0, 9.0], "bound": [0.25, 1.0]},
        "users": [user("<b>ann</b>", 2.0), user("bob", 6.0)],
        "overspent": overspent,
    }
    if renews:
        cell["users"] += [{**each, "period": 1, "curve": None} for each in cell["users"]]  # type: ignore[operator]
    found = {
        "agents": ["pacing"],
        "welfare_vs_truthful_pct": {"mean": -10.5, "se": 1.25, "n": 3},
        "guaranteed_pct": {"mean": -60.0, "se": None, "n": 1},
        "bound_violations": 0,
        "overspent": overspent,
        "spent_pct": 50.0,
        "horizon": 2,
        "regret": {"mean": 1.0, "se": 0.0, "n": 2},
        "regret_pct": 25.0,
        **changes,
    }
    summary = {"pacing": {"schedules": {"paced": found}, "exponent": fit, "definitions": PACING_DEFINITIONS}}
    for name, data in (("pacing", {"cells": [cell]}), ("summary", summary), ("manifest", {"name": "p60"})):
        (home / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return home


def text_of(tmp_path: Path, **options: Any) -> str:
    return write_pacing_page(folder(tmp_path / "run", **options), tmp_path / "page.html").read_text(encoding="utf-8")


def figures(text: str) -> dict[str, Any]:
    blocks = re.findall(r'<script type="application/json" id="([\w-]+)-data">(.*?)</script>', text, re.DOTALL)
    return {key: json.loads(block) for key, block in blocks}


def test_the_verdict_comes_first(tmp_path: Path) -> None:
    text = text_of(tmp_path)
    first = text[text.index('id="verdict"') : text.index('id="schedule-0"')]
    for said in (
        "Pacing moved welfare by −10.50 ± 1.25 % of what the truth would have made",
        "guarantees no less than −60.0 %",
        "Nobody ever spent more than his budget and spent 50.0 % of it in all",
        "Users stayed 25.0 % below an upper bound",
    ):
        assert said in " ".join(first.split())
    assert 'role="alert"' not in first
    assert "&lt;b&gt;ann&lt;/b&gt;" in text
    assert "<b>ann</b>" not in text


def test_the_figures_hold_the_records(tmp_path: Path) -> None:
    found = figures(text_of(tmp_path))
    assert set(found) == {"users-0-multiplier", "users-0-spend", "users-0-utility", "users-0-regret", "welfare-0"}
    spend = found["users-0-spend"]["data"]
    assert [trace["y"] for trace in spend] == [[0.0, 50.0], [0.0, 50.0], [50.0, 100.0]]  # two users and the target
    assert found["users-0-regret"]["data"][0]["y"] == [1.0, 1.0]
    assert found["users-0-multiplier"]["data"][0]["y"] == [None, 0.5]
    realised, guaranteed = found["welfare-0"]["data"]
    assert (realised["y"], guaranteed["y"]) == ([80.0, 100.0], [25.0, 100.0])


def test_an_overdrawn_budget_is_an_alarm(tmp_path: Path) -> None:
    text = text_of(tmp_path, overspent=3)
    assert "<strong>Bug:</strong> paced: after 3 auctions a user had spent more than his budget." in text
    assert "Nobody ever spent" not in text


FIT = {"exponent": 0.43, "interval": [0.4, 0.46], "points": [[100, 1.0], [1000, 2.8], [10000, 7.4]]}


def test_how_regret_grows_stands_in_the_first_screen(tmp_path: Path) -> None:
    text = text_of(tmp_path, fit=FIT)
    first = text[text.index('id="verdict"') : text.index('id="schedule-0"')]
    assert "Regret grows like T^0.43 (95 %: 0.40 … 0.46) over T = 100, 1,000, 10,000: slower than the √T" in first
    lines = figures(text)["growth"]["data"]
    assert [line["name"] for line in lines] == ["T^0.43 (95 %: 0.40 … 0.46)", "√T", "mean regret"]
    assert lines[1]["y"][1] / lines[1]["y"][0] == pytest.approx(10.0)
    assert growth(None).figure is None


def test_budgets_that_renew_show_their_first_period(tmp_path: Path) -> None:
    text = text_of(tmp_path, renews=True)
    assert "The first of 2 periods: budgets renew every 2 auctions." in text
    assert len(figures(text)["users-0-multiplier"]["data"]) == 2
    assert "users. The first" not in text


def test_who_bids_and_what_is_not_defined_is_said(tmp_path: Path) -> None:
    none = {"mean": None, "se": None, "n": 0}
    text = text_of(tmp_path, agents=["pacing", "truthful"], regret=none, regret_pct=None)
    assert "The mix of pacing and truthful agents moved welfare by" in text
    assert "Regret is not defined: its bound in hindsight takes a truthful payment" in text
    assert "± is one standard error: over trials" in text


def test_a_run_without_budgets_has_no_such_page(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"no pacing\.json"):
        write_pacing_page(tmp_path, tmp_path / "page.html")


@pytest.mark.browser
def test_it_opens_offline_without_an_error(browser, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = write_pacing_page(folder(tmp_path / "run", fit=FIT), tmp_path / "page.html")
    visit = Visit(browser, page, theme="light", width=390)
    assert set(visit.draw_all()) == {"light"}
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    assert visit.said == []
    assert visit.asked == [visit.address]
    visit.context.close()

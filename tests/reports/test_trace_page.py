"""The trace page: strict JSON, no address outside itself, every number as text; and once in a real browser."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mechanism.prompts import Prompts
from reports.trace_page import write_trace_page
from sim.describe import Description, describe
from sim.requests import Demand

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def description(
    *, clock: bool = True, shared: bool = True, answers: bool = False, source: str = "traces/talk.jsonl"
) -> Description:
    ids = [[1, 2, 3], [1, 2, 4], [1]] if shared else [[1], [2], [3]]
    demand = Demand(
        prompts=Prompts.from_lists(ids),
        output_tokens=np.array([5, 7, 1]),
        cluster=np.array([0, 0, 1]),
        session=("a", "a", "b"),
        arrival_ns=np.array([0, 3, 10]) * 10**9 if clock else None,
        dropped={"zero output": 2},
        warnings=("beware of <b>bold</b> & co",),
        output_ids=Prompts.from_lists([[7] * 5, [8] * 7, [9]]) if answers else None,
        facts={"sharing": 0.5},
    )
    return describe(demand, source=source, kind="bailian", kv_tokens=2)


def page(folder: Path, found: Description) -> str:
    return write_trace_page(found, folder / "pages" / "t.html").read_text(encoding="utf-8")


def figures(text: str) -> dict[str, dict]:  # type: ignore[type-arg]
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not strict JSON")

    blocks = re.findall(r'<script type="application/json" id="([\w-]+)-data">(.*?)</script>', text, re.DOTALL)
    return {key: json.loads(block, parse_constant=refuse) for key, block in blocks}


def test_it_says_what_describe_found(tmp_path: Path) -> None:
    text = page(tmp_path, description())
    assert "<h1>talk.jsonl · bailian</h1>" in text
    # 2 of the second prompt's 3 tokens and none of the third's only one
    assert "3 requests in 2 sessions over 10 s. A cache of prompts only that never forgets would serve 28.6%" in text
    assert "66.7% of prompts are longer than 2 tokens" in text
    assert "beware of &lt;b&gt;bold&lt;/b&gt; &amp; co" in text
    assert "2 of 5 records are left out: zero output" in text


def test_the_figures_are_strict_json_with_the_right_numbers(tmp_path: Path) -> None:
    found = figures(page(tmp_path, description()))
    assert set(found) == {"rate", "lengths", "sharing"}
    (bars,) = found["rate"]["data"]
    assert sum(bars["y"]) * bars["width"] == pytest.approx(3)
    assert [curve["name"] for curve in found["lengths"]["data"]] == ["prompt", "output"]
    assert found["lengths"]["layout"]["shapes"][0]["x0"] == 2
    assert found["sharing"]["data"][0]["x"][-1] == pytest.approx(200 / 3, rel=1e-6)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    text = page(tmp_path, description(clock=False, shared=False))
    assert set(figures(text)) == {"lengths"}
    assert "The trace has no clock." in text
    assert "No prompt begins like an earlier one." in text
    assert "Prompts share nothing" in text


def test_recorded_answers_are_said_to_be_left_out(tmp_path: Path) -> None:
    text = page(tmp_path, description(answers=True))
    assert "A bounded cache has less" not in text
    assert "The answers are recorded too and left out here" in text
    assert "A bounded cache has less." in page(tmp_path, description())


def test_a_name_is_text(tmp_path: Path) -> None:
    text = page(tmp_path, replace(description(), source="</script><b>x"))
    assert "<b>x" not in text
    assert not re.search(r'(src|href)="(?!#|data:)', text), "nothing is fetched"


@pytest.mark.browser
def test_it_opens_offline_without_an_error(tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    page(tmp_path, description())
    said: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_context(offline=True, viewport={"width": 390, "height": 800}).new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto((tmp_path / "pages" / "t.html").as_uri())
        for plot in tab.query_selector_all(".plot"):
            plot.scroll_into_view_if_needed()
        tab.wait_for_selector(".plot:not([data-drawn])", state="detached")
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert len(tab.query_selector_all(".plot .main-svg")) >= 3
        browser.close()
    assert said == []

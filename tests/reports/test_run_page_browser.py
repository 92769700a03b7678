"""The page in a real browser, with the network off: no error, no request, every section in sight."""

from pathlib import Path

import pytest
from browser_kit import Visit
from run_folders import write_run

from reports.run_page import write_run_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("runs")
    one, two = write_run(home / "one"), write_run(home / "two", "</script><b>x")
    return {
        "one run": write_run_page([one], home / "one.html"),
        "two runs": write_run_page([one, two], home / "two.html"),
    }


@pytest.mark.parametrize(("name", "theme", "width"), [("one run", "light", 390), ("two runs", "dark", 1280)])
def test_it_opens_offline_without_an_error(browser, pages, tmp_path, name, theme, width) -> None:  # type: ignore[no-untyped-def]
    visit = Visit(browser, pages[name], theme=theme, width=width)
    assert set(visit.draw_all()) == {theme}
    sections = visit.page.query_selector_all("section")
    assert len(sections) == 12
    assert all(section.is_visible() and section.bounding_box()["height"] > 60 for section in sections)
    assert len(visit.page.query_selector_all(".plot .main-svg")) >= 9
    # nothing sticks out sideways
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    screenshot = tmp_path / f"{theme}-{width}.png"
    visit.page.screenshot(path=screenshot, full_page=True)
    assert screenshot.stat().st_size > 50_000
    assert visit.said == []
    assert visit.asked == [visit.address]
    visit.context.close()


def test_the_button_switches_the_theme_of_page_and_figures(browser, pages) -> None:  # type: ignore[no-untyped-def]
    visit = Visit(browser, pages["one run"], theme="light", width=1280)
    visit.draw_all()
    before = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.page.click("#theme")
    visit.page.wait_for_selector(".plot:not([data-drawn=dark])", state="detached")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert visit.page.text_content("#theme") == "Light"
    colour = "document.querySelector('#ttft-all .xtick text').style.fill"
    assert visit.page.evaluate(colour) == "rgb(233, 236, 241)"
    assert visit.said == []
    visit.context.close()


def test_it_can_be_read_without_scripts(browser, pages) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["one run"].as_uri())
    assert page.is_visible("noscript p")
    assert page.is_visible("#verdict .cards")
    context.close()

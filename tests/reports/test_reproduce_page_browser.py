"""The reproduction's pages in a real browser, with the network off."""

from pathlib import Path

import pytest
from browser_kit import Visit
from reproduce_kit import record_of

from reports.reproduce_page import write_reproduce_pages
from sim.reproduce.experiments import FIGURES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reproduction")
    return {path.stem: path for path in write_reproduce_pages(folder, [record_of(figure) for figure in FIGURES])}


@pytest.mark.parametrize(
    ("name", "theme", "width", "plots"),
    [("index", "light", 390, 0), ("fig1", "light", 1280, 36), ("fig4", "dark", 390, 8), ("runtime", "dark", 1280, 5)],
)
def test_it_opens_offline_without_an_error(browser, pages, name, theme, width, plots) -> None:  # type: ignore[no-untyped-def]
    visit = Visit(browser, pages[name], theme=theme, width=width)
    drawn = visit.draw_all()
    assert drawn == [theme] * plots
    assert len(visit.page.query_selector_all(".plot .main-svg")) >= plots
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.said == []
    assert visit.asked == [pages[name].as_uri()]
    visit.context.close()


def test_the_index_leads_to_every_figure_and_back(browser, pages) -> None:  # type: ignore[no-untyped-def]
    visit = Visit(browser, pages["index"], theme="light", width=1280)
    visit.page.click("nav a[href='fig2.html']")
    assert visit.page.url == pages["fig2"].as_uri()
    visit.page.click("nav a[href='index.html']")
    assert visit.page.url == pages["index"].as_uri()
    assert visit.said == []
    visit.context.close()

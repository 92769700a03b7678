"""The pages of calibration and fidelity in a real browser, with the network off: no error, no request, all in sight."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from calibration_kit import PassesForLive
from fidelity_kit import PROFILE, SERVER, profile_of, validated

from reports.calibration_page import write_calibration_page
from reports.fidelity_page import write_fidelity_page

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("pages")
    slow = {**PROFILE["latency"], "weights_ms": 60.0}
    failing = validated(home, PassesForLive(SERVER), runs=1, latency=slow, name="</script><b>x")
    return {
        "calibration": write_calibration_page(profile_of(), home / "calibration.html"),
        "fidelity": write_fidelity_page(failing, home / "fidelity.html"),
    }


@pytest.mark.parametrize(
    ("name", "theme", "width", "sections", "plots"),
    [("calibration", "light", 390, 9, 5), ("fidelity", "dark", 1280, 8, 4)],
)
def test_it_opens_offline_without_an_error(browser, pages, name, theme, width, sections, plots) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(
        offline=True, color_scheme=theme, viewport={"width": width, "height": 800}, reduced_motion="reduce"
    )
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    for plot in page.query_selector_all(".plot"):
        plot.scroll_into_view_if_needed()
    page.wait_for_selector(".plot:not([data-drawn])", state="detached")
    shown = page.query_selector_all("section")
    assert len(shown) == sections
    assert all(section.is_visible() for section in shown)
    assert len(page.query_selector_all(".plot .main-svg")) >= plots
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert said == []
    assert asked == [pages[name].as_uri()]
    context.close()

"""The pages of calibration and fidelity in a real browser, with the network off: no error, no request, all in sight."""

from pathlib import Path

import pytest
from browser_kit import Visit
from calibration_kit import PassesForLive
from fidelity_kit import PROFILE, SERVER, profile_of, validated

from reports.calibration_page import write_calibration_page
from reports.fidelity_page import write_fidelity_page

pytestmark = pytest.mark.browser


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
    visit = Visit(browser, pages[name], theme=theme, width=width)
    visit.draw_all()
    shown = visit.page.query_selector_all("section")
    assert len(shown) == sections
    assert all(section.is_visible() for section in shown)
    assert len(visit.page.query_selector_all(".plot .main-svg")) >= plots
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.said == []
    assert visit.asked == [pages[name].as_uri()]
    visit.context.close()

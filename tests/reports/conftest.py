"""What the tests of several pages share."""

from collections.abc import Iterator

import pytest
from browser_kit import CHROMIUM


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()

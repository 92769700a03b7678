"""Pages in a real browser, with the network off."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

__all__ = ["CHROMIUM", "Visit"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Visit:
    """A page opened offline, with everything it said and asked for."""

    def __init__(self, browser: Any, path: Path, *, theme: str, width: int) -> None:
        self.context = browser.new_context(
            offline=True, color_scheme=theme, viewport={"width": width, "height": 800}, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def draw_all(self) -> list[str]:
        """Scroll to every figure that can be seen until it is drawn; the themes they were drawn in."""
        seen = [plot for plot in self.page.query_selector_all(".plot") if plot.is_visible()]
        for plot in seen:
            plot.scroll_into_view_if_needed()
            self.page.wait_for_function("plot => plot.dataset.drawn", arg=plot)
        return [plot.get_attribute("data-drawn") for plot in seen]

"""Pages as text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["Page", "refuse"]


class Page(HTMLParser):
    """What a browser would make of the page: sections, texts outside scripts, JSON blocks, references."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.tags: list[str] = []
        self.blocks: list[Any] = []
        self.addresses: list[str] = []
        self._words: list[str] = []
        self._script: str | None = None
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.text = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.addresses += [found[name] or "" for name in ("src", "href") if name in found]
        if tag == "section":
            self.sections.append(found["id"] or "")
        if tag in ("script", "style"):
            self._script = found.get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self._words.append(data)
        elif self._script == "application/json":
            self.blocks.append(json.loads(data, parse_constant=refuse))


def refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")

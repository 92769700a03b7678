"""The claims as a table in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sim.reproduce.words import found_words, reading

__all__ = ["claims_table"]

_MARKS = {
    "yes": ("✓", "green"),
    "yes, not resolved": ("(✓)", "yellow"),
    "cannot tell": ("?", "yellow"),
    "no": ("✗", "red"),
}
_KEY = "✓ agrees   (✓) in range, not resolved   ? cannot tell   ✗ does not agree; 95 % intervals over seeds"


def claims_table(records: Sequence[Mapping[str, Any]]) -> Group:
    """Every claim: what the paper says, what each setting of the engine gives, and whether they agree."""
    settings = [setting["name"] for setting in records[0]["settings"]]
    table = Table(header_style="bold", caption=_KEY)
    table.add_column("claim")
    table.add_column("paper")
    for name in settings:
        table.add_column(name)
    for record in records:
        for claim in record["claims"]:
            marks = [_marked(claim["verdict"][name], "") for name in settings]
            table.add_section()
            table.add_row(Text(f"{claim['figure']} · {claim['text']}", style="bold"), "", *marks)
            for part in claim["parts"]:
                table.add_row(Text(f"  {part['label']}"), Text(part["stated"]), *_cells(claim, part, settings))
    return Group(table, *(Text(sentence) for sentence in reading(records)))


def _cells(claim: Mapping[str, Any], part: Mapping[str, Any], settings: Sequence[str]) -> list[Text]:
    found = part["settings"]
    cells = [_marked(found[name]["verdict"], found_words(found[name], part["unit"])) for name in settings]
    return cells if claim["engine"] else [cells[0], *(Text("= (no engine)", style="dim") for _ in cells[1:])]


def _marked(verdict: str, words: str) -> Text:
    mark, style = _MARKS[verdict]
    return Text.assemble((mark, style), f" {words}" if words else f" {verdict}")

"""The reproduction's pages: an index of all claims, and a page a figure with our numbers beside the paper's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from reports._page import write_page
from reports.figures.reproduce_claims import claim_charts
from reports.figures.reproduce_market import budget_levels, run_time_charts, welfare_over_auctions
from reports.figures.reproduce_panels import panel_charts, row_title
from reports.reproduce_rows import budget_rows, claim_rows, commands, earlier_words, number_rows, run_time_rows
from sim.reproduce.experiments import FIGURES
from sim.reproduce.record import METRICS
from sim.reproduce.words import reading, tally, unbroken

__all__ = ["write_reproduce_pages"]

Json = Mapping[str, Any]

#: Records of one reproduction have these in common; others in the folder are of another one.
_COMMON = ("version", "seed", "trials", "data", "rule")


def write_reproduce_pages(folder: Path, records: Sequence[Json]) -> list[Path]:
    """Write ``index.html`` and ``<figure>.html`` for every record; returns them, the index first.

    The index, and the links between pages, also know figures that earlier calls left in `folder` with the same seed,
    trials, data, version and rule of agreement; the index links those of others too, and does not count them. Each page
    is whole or not there, needs no network, and holds one copy of plotly.js.
    """
    together = _together(folder, records)
    links = [("index.html", "All claims"), *((f"{each['figure']}.html", _short(each)) for each in together)]
    index = write_page("reproduce_index.html.j2", folder / "index.html", _index(folder, together, links))
    pages = [
        write_page("reproduce_page.html.j2", folder / f"{each['figure']}.html", _figure(each, links))
        for each in records
    ]
    return [index, *pages]


def _together(folder: Path, records: Sequence[Json]) -> list[Json]:
    """These records and those of other figures of the same reproduction, in the order of the paper."""
    by_name = {str(each["figure"]): each for each in records}
    for name in FIGURES:
        found = None if name in by_name else _left(folder, name)
        if found is not None and all(found.get(key) == records[0][key] for key in _COMMON):
            by_name[name] = found
    return [by_name[name] for name in FIGURES if name in by_name]


def _index(folder: Path, together: Sequence[Json], links: Sequence[tuple[str, str]]) -> Json:
    others = _others(folder, {str(each["figure"]) for each in together})
    there = {str(each["figure"]) for each in together} | {str(each["name"]) for each in others}
    return {
        **_common(together[0], links, "index.html"),
        "title": "Inference Auctions, reproduced",
        "reading": [unbroken(sentence) for sentence in reading(together)],
        "cards": _cards(together),
        "figures": [{"name": each["figure"], "title": each["title"], "claims": claim_rows(each)} for each in together],
        "commands": [each["command"] for each in together],
        "earlier": earlier_words(together),
        "others": others,
        "missing": [FIGURES[name].title for name in FIGURES if name not in there],
    }


def _left(folder: Path, name: str) -> Json | None:
    """The record of a figure whose page lies in the folder."""
    path = folder / f"{name}.json"
    if not (path.is_file() and (folder / f"{name}.html").is_file()):
        return None
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def _others(folder: Path, shown: AbstractSet[str]) -> list[Json]:
    """Figures in the folder that are of another reproduction: other seeds, trials, text, version or rule."""
    left = {name: _left(folder, name) for name in FIGURES if name not in shown}
    return [
        {"name": name, "title": record["title"], **{key: record.get(key) for key in _COMMON}}
        for name, record in left.items()
        if record is not None
    ]


def _figure(record: Json, links: Sequence[tuple[str, str]]) -> Json:
    is_market = record["figure"] in ("fig4", "runtime")
    names = [setting["name"] for setting in record["settings"]]
    first = record["panels"][0]["points"] if record["panels"] else ()
    return {
        **_common(record, links, f"{record['figure']}.html"),
        "title": record["title"],
        "reading": [unbroken(sentence) for sentence in reading([record])],
        "cards": _cards([record]),
        "claims": claim_rows(record),
        "claim_charts": claim_charts(record),
        "rows": [] if is_market else [row for panel in record["panels"] for row in _chart_rows(record, panel)],
        "tables": [] if is_market else [(panel["title"], number_rows(panel, names)) for panel in record["panels"]],
        "heads": ("Point, schedule", *(f"{title}, {name}" for title, _, _ in METRICS.values() for name in names)),
        "budgets": budget_rows(first, names[0]) if record["figure"] == "fig4" else [],
        "budget_charts": (
            [budget_levels(first, names[0]), *welfare_over_auctions(first, names[0])]
            if record["figure"] == "fig4"
            else []
        ),
        "times": [] if record["run_times"] is None else run_time_rows(record["run_times"]),
        "time_charts": () if record["run_times"] is None else run_time_charts(record["run_times"]),
        "machine": "" if record["run_times"] is None else record["run_times"]["machine"],
        "command": record["command"],
        "commands": commands(record),
    }


def _common(record: Json, links: Sequence[tuple[str, str]], here: str) -> Json:
    return {
        "links": [(address, name) for address, name in links if address != here],
        "settings": record["settings"],
        "names": [setting["name"] for setting in record["settings"]],
        "seed": record["seed"],
        "trials": record["trials"],
        "text": record["text"],
        "data": record["data"],
        "version": record["version"],
        "rule": record["rule"],
    }


def _chart_rows(record: Json, panel: Json) -> list[tuple[str, Any]]:
    return [(row_title(metric, panel), panel_charts(record, panel, metric)) for metric in METRICS]


def _cards(records: Sequence[Json]) -> list[tuple[str, str, str]]:
    """How many claims, and how many of their numbers, agree: a card for each setting."""
    claims = [claim for record in records for claim in record["claims"]]
    parts = [part for claim in claims for part in claim["parts"]]
    cards = []
    for setting in records[0]["settings"]:
        counts = tally(claims, setting["name"])
        numbers = [part["settings"][setting["name"]]["verdict"] for part in parts]
        note = (
            f"agree; {counts['yes, not resolved']} in range but not resolved, {counts['cannot tell']} cannot be told, "
            f"{counts['no']} do not. {numbers.count('yes')} of {len(parts)} numbers agree, "
            f"{numbers.count('yes, not resolved')} more are in range but not resolved. "
        )
        cards.append((setting["name"], f"{counts['yes']} of {len(claims)} claims", note + _sentence(setting["words"])))
    return cards


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _short(record: Json) -> str:
    return str(record["title"]).split(" · ")[0]

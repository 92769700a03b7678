"""The run page: records of one run, or of several side by side, become one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports._page import write_page
from reports.figures import auctions, cache, payments, tree, ttft, welfare
from reports.load import Run, load_runs
from reports.series import Series, series_of
from reports.tables import side_by_side, statuses, unserved, users_by_spend
from reports.trust import facts, sentences
from reports.verdict import cards, reading

__all__ = ["write_run_page"]


def write_run_page(run_dirs: Sequence[Path], out: Path) -> Path:
    """Write the page of one run or of several to `out`, whole or not at all.

    Reads run folders (DESIGN.md, Files) and nothing else; runs nothing. The page needs no network, follows the
    reader's light or dark setting, and holds one copy of plotly.js.

    Parameters
    ----------
    run_dirs : run folders; with several, schedules are labelled run/schedule.
    out : the HTML file; its folder is made if need be.

    Raises
    ------
    ScenarioError
        No folder given, or one that is no run folder; the message says which file or column is missing.
    """
    runs = load_runs(run_dirs)
    series = series_of(runs)
    return write_page("run_page.html.j2", out, _context(runs, series))


def _context(runs: Sequence[Run], series: Sequence[Series]) -> Mapping[str, Any]:
    ended = statuses(series)
    names = list(dict.fromkeys(run.name for run in runs))
    several = f" · {len(runs)} runs" if len(runs) > 1 else ""
    return {
        "title": " · ".join(names) + several,
        "runs": runs,
        "series": series,
        "interrupted": [run.label or run.name for run in runs if run.manifest.get("status") == "interrupted"],
        "reading": reading(series),
        "cards": cards(series),
        "comparison": side_by_side(series),
        "ttft": ttft.overall(series),
        "ttft_facets": ttft.decile_facets(series),
        "welfare": welfare.against_ttft(series),
        "payments": payments.against_declared_value(series),
        "cache": (cache.occupancy(series), cache.hit_rate(series)),
        "trees": tree.first_levels(runs),
        "auctions": auctions.over_time(series),
        "users": users_by_spend(series),
        "statuses": ended,
        "unserved": unserved(ended),
        "trust": [(run, tuple(sentences(run))) for run in runs],
        "run_cards": [_run_card(run) for run in runs],
        "definitions": _definitions(runs),
    }


def _run_card(run: Run) -> Mapping[str, Any]:
    """What a run was made of. Blocks the manifest lacks are shown as not reported, not left out."""
    blocks = {
        title: run.manifest.get(key)
        for key, title in (("versions", "Versions"), ("backend", "Backend"), ("profile", "Latency profile"))
    }
    blocks["Seeds"] = run.summary.get("seeds")
    blocks["Dropped records"] = run.manifest.get("dropped") or "none"
    return {
        "run": run,
        "facts": facts(run),
        "blocks": blocks,
        "warnings": list(run.manifest.get("warnings") or ()),
    }


def _definitions(runs: Sequence[Run]) -> Mapping[str, str]:
    """What each metric means, in the words of the runs themselves."""
    found: dict[str, str] = {}
    for run in runs:
        found |= {str(name): str(text) for name, text in (run.summary.get("definitions") or {}).items()}
    return found

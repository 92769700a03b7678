"""The pacing page: what budgets cost, whether they were kept, and how near users came to their best in hindsight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports._page import write_page
from reports.figures import budgets
from reports.text import number
from sim.errors import ScenarioError
from sim.pacing_words import ERRORS, agents_text, growth_text, why_no_regret
from sim.run_files import read_object

__all__ = ["write_pacing_page"]

_ROWS = 24


def write_pacing_page(run: Path, out: Path) -> Path:
    """Write the page of one run in which users had budgets to `out`, whole or not at all; returns `out`.

    Reads pacing.json, summary.json and manifest.json of the run folder. The page needs no network, follows the
    reader's light or dark setting, and holds one copy of plotly.js.

    Raises
    ------
    ScenarioError
        The folder holds no pacing.json: nobody had a budget.
    """
    if not (run / "pacing.json").exists():
        raise ScenarioError(str(run), "no pacing.json", "a run in which users have budgets")
    cells, summary, manifest = (read_object(run, name) for name in ("pacing.json", "summary.json", "manifest.json"))
    pacing = summary.get("pacing") or {"schedules": {}}
    first = {cell["schedule"]: cell for cell in reversed(cells["cells"])}
    labels = sorted(pacing["schedules"], key=lambda label: -pacing["schedules"][label]["horizon"])
    if not labels or not set(labels) <= first.keys():
        expected = f"those under pacing in summary.json: {', '.join(labels) or 'none'}"
        raise ScenarioError(
            f"{run}: pacing.json and summary.json", f"cells of {', '.join(first) or 'no schedule'}", expected
        )
    context = {
        "title": str(manifest.get("name") or run.name),
        "readings": [(label, _reading(found)) for label, found in pacing["schedules"].items()],
        "alarms": [alarm for label, found in pacing["schedules"].items() for alarm in _alarms(label, found)],
        "cards": [_card(label, found) for label, found in pacing["schedules"].items()],
        "rows": [_row(label, found) for label, found in pacing["schedules"].items()],
        "growth_text": growth_text(pacing["exponent"]) if pacing["exponent"] else "",
        "errors": ERRORS,
        "growth": budgets.growth(pacing["exponent"]),
        "parts": [_part(place, label, first[label]) for place, label in enumerate(labels)],
        "definitions": pacing["definitions"],
    }
    return write_page("pacing_page.html.j2", out, context)


def _reading(found: Mapping[str, Any]) -> str:
    """One schedule in a sentence or two."""
    welfare, guaranteed = found["welfare_vs_truthful_pct"], found["guaranteed_pct"]
    sentences = []
    if welfare["mean"] is not None:
        error = "" if welfare["se"] is None else f" ± {welfare['se']:.2f}"
        who, least = agents_text(found.get("agents", ())), number(guaranteed["mean"], 1, signed=True)
        sentences.append(
            f"{who} moved welfare by {number(welfare['mean'], 2, signed=True)}{error} % of what the truth would have "
            f"made; the κ bound guarantees no less than {least} %."
        )
    spent = "" if found["spent_pct"] is None else f" and spent {found['spent_pct']:.1f} % of it in all"
    if found["overspent"] == 0:
        sentences.append(f"Nobody ever spent more than his budget{spent}.")
    if found["regret_pct"] is not None:
        sentences.append(
            f"Users stayed {found['regret_pct']:.1f} % below an upper bound on their best utility in hindsight."
        )
    elif why := why_no_regret(found):
        sentences.append(why)
    return " ".join(sentences)


def _alarms(label: str, found: Mapping[str, Any]) -> Sequence[str]:
    alarms = []
    if found["overspent"]:
        alarms.append(f"{label}: after {found['overspent']:,} auctions a user had spent more than his budget.")
    if found["bound_violations"]:
        alarms.append(f"{label}: {found['bound_violations']:,} auctions lie below their κ bound.")
    return alarms


def _card(label: str, found: Mapping[str, Any]) -> tuple[str, str, str]:
    welfare = found["welfare_vs_truthful_pct"]
    if welfare["mean"] is None:
        return label, "–", "no best order to compare with"
    return label, f"{number(welfare['mean'], 2, signed=True)} %", "welfare against the truth"


def _row(label: str, found: Mapping[str, Any]) -> Sequence[str]:
    regret = found["regret"]
    error = "" if regret["se"] is None else f" ± {regret['se']:.2g}"
    return (
        label,
        *(_percent(found[name]) for name in ("welfare_vs_truthful_pct", "guaranteed_pct")),
        "–" if found["guaranteed_pct"]["mean"] is None else f"{found['bound_violations']:,}",
        f"{found['overspent']:,}",
        "–" if found["spent_pct"] is None else number(found["spent_pct"], 1),
        f"{found['horizon']:,}" if found["horizon"] else "–",
        "–" if regret["mean"] is None else f"{number(regret['mean'])}{error}",
        "–" if found["regret_pct"] is None else number(found["regret_pct"], 1),
    )


def _percent(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "–"
    return number(found["mean"], 2, signed=True) + ("" if found["se"] is None else f" ± {found['se']:.2f}")


def _part(place: int, label: str, cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """One schedule's figures and table, of its first trial."""
    users = cell["users"]
    return {
        "id": f"schedule-{place}",
        "label": label,
        "charts": (*budgets.of_users(users, f"users-{place}"), budgets.welfare_and_bound(cell, f"welfare-{place}")),
        "users": [_user_row(user) for user in users[:_ROWS]],
        "num_users": len(users),
    }


def _user_row(user: Mapping[str, Any]) -> Sequence[str]:
    budget, bound = user["budget"], user["bound"]
    multipliers = [] if user["curve"] is None else [each for each in user["curve"]["multiplier"] if each is not None]
    return (
        str(user["user"]) + (f", period {user['period']}" if user["period"] else ""),
        number(budget),
        number(100 * user["spent"] / budget if budget > 0 else None, 1),
        number(sum(multipliers) / len(multipliers), 3) if multipliers else "–",
        "–" if user["mu"] is None else number(1 / (1 + user["mu"]), 3),
        number(user["utility"]),
        "–" if bound is None else number(bound),
        "–" if user["regret"] is None else number(user["regret"]),
    )

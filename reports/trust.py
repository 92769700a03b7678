"""How far to trust the page: trials, seeds, settings and what was assumed, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from reports.load import Run
from reports.series import finite
from sim.papers_figures import gap_sentence, prompts_sentence

__all__ = ["facts", "latencies", "premises", "sentences", "setting_of"]


def setting_of(scenario: Mapping[str, Any]) -> str:
    """The engine setting of MATH.md that `dispatch.in_flight` stands for."""
    dispatch = scenario.get("dispatch")
    if not isinstance(dispatch, Mapping) or "in_flight" not in dispatch:
        return "not reported"
    in_flight = dispatch["in_flight"]
    if in_flight is None:
        return "queue (no limit on the requests inside the engine)"
    if in_flight == 1:
        return "serial (one request inside the engine at a time)"
    return f"window-{in_flight} (at most {in_flight} requests inside the engine)"


def sentences(run: Run) -> Iterator[str]:
    """What a careful reader asks first."""
    trials = _trials(run)
    if trials == 1:
        yield "One trial only: there is no interval, and any difference may be luck. Run more trials."
    else:
        yield (
            f"Means over {trials} trials; ± is one standard error over them. Differences (Δ) are paired: in each"
            f" trial every schedule met the same requests, values and arrivals, and {run.schedules[0]} is"
            " subtracted."
        )
    yield f"Engine setting: {setting_of(run.scenario)}. Results depend on it; compare like with like."
    if gap := run.summary.get("gap_to_bid_sort"):
        yield f"{_sentence(gap_sentence(gap, run.scenario, _num_requests(run)))}."
    if prompts := prompts_sentence(run.manifest.get("facts") or {}):
        yield f"{_sentence(prompts)}."
    yield from premises(run.scenario)
    yield from latencies(run.manifest.get("profile"))
    yield from _extrapolated(run)
    if run.manifest.get("status") == "interrupted":
        yield "The run was interrupted: what is shown is what had been recorded by then."
    if run.engine_steps is None:
        yield "Engine steps were not recorded, so the page cannot show how full the cache was."


def facts(run: Run) -> tuple[tuple[str, str], ...]:
    """The run card's first lines."""
    manifest = run.manifest
    seed, seconds = manifest.get("seed"), finite(manifest.get("duration_s"))
    return (
        ("Status", _told(manifest.get("status"))),
        ("Started", _told(manifest.get("started_at"))),
        ("Took", "not reported" if seconds is None else f"{seconds:,.1f} s of wall time"),
        ("Auctions", _auction_time(manifest)),
        ("Seed", _told(seed)),
        ("Trials", str(_trials(run))),
        ("Requests", f"{_num_requests(run):,} a trial and schedule"),
        ("Schedules", ", ".join(run.schedules)),
        ("Engine setting", setting_of(run.scenario)),
        ("Run folder", run.folder.name),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _auction_time(manifest: Mapping[str, Any]) -> str:
    seconds = finite(manifest.get("auction_s"))
    return "not reported" if seconds is None else f"{1e3 * seconds:,.0f} ms of that, all schedules and trials"


def _num_requests(run: Run) -> int:
    """Of one schedule on one trial."""
    return len(run.requests) // max(1, _trials(run) * len(run.schedules))


def _trials(run: Run) -> int:
    return int(run.requests["trial"].n_unique())


def premises(scenario: Mapping[str, Any]) -> Iterator[str]:
    """What is assumed of values, ranks and bids."""
    values = scenario.get("values")
    if isinstance(values, Mapping) and values.get("kind") == "pareto":
        shape = finite(values.get("shape"))
        if shape is not None and shape <= 2:
            yield (
                f"Values are drawn from a Pareto law of shape {shape:g}, whose variance is infinite: a few"
                " requests carry much of the welfare, and standard errors understate how far another seed may lie."
            )
    arrivals = scenario.get("arrivals")
    if isinstance(arrivals, Mapping):
        whole = arrivals.get("kind") == "saturated"
        cohort = "the whole run, for all requests wait from the start" if whole else "one scheduling batch"
        yield f"Welfare is taken on the realised order: ranks by TTFT within {cohort}."
    if scenario.get("bidding") in (None, "truthful", {"use": "truthful"}):
        yield "Bids are truthful: every bid is the request's value."
    if queued := [str(each.get("label")) for each in _entries(scenario) if each.get("use") == "priority-preemptive"]:
        yield (
            f"Under {' and '.join(queued)} nothing is held back: requests go to the server at once and its own queue"
            " orders them, whatever dispatch.in_flight says. Its batches are therefore others than an auction's, and"
            " welfare, where it is ranked inside batches, does not compare; the value-weighted TTFT does."
        )


def _entries(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = scenario.get("schedule")
    return [each for each in entries if isinstance(each, Mapping)] if isinstance(entries, list) else []


def latencies(profile: Any) -> Iterator[str]:
    """Where the latencies come from, when the profile says they were not measured on a live server."""
    if not isinstance(profile, Mapping):
        return
    derived = next((text for text in _texts(profile) if "derived from tables" in text.lower()), None)
    if derived is not None:
        quote = f"; quote them with {profile['quote_as']}" if profile.get("quote_as") else ""
        yield f"Latencies of the profile {profile.get('name', '')} are {derived.rstrip('.')}{quote}."


def _extrapolated(run: Run) -> Iterator[str]:
    """How many served requests are longer than anything the latency profile was fitted to."""
    known = finite((run.manifest.get("profile") or {}).get("measured_up_to_tokens"))
    if known is None:
        return
    served = run.requests.filter(pl.col("status") == "ok")
    longer = served.filter(pl.col("prompt_tokens") + pl.col("output_tokens") > known)
    if len(longer):
        yield (
            f"{len(longer):,} of the {len(served):,} requests served, over all schedules and trials, are longer than"
            f" the {known:,.0f} tokens that the latency profile was measured up to: their times are extrapolated."
        )


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        for value in found.values():
            yield from _texts(value)
    elif isinstance(found, list):
        for value in found:
            yield from _texts(value)


def _told(found: object) -> str:
    return "not reported" if found is None else str(found)

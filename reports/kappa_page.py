"""The κ page: what is guaranteed when users pace themselves, what came of it, and where the loss may sit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports._page import write_page
from reports.figures import kappa_bounds, kappa_depth, kappa_nodes, kappa_users
from reports.text import number
from sim.kappa_details import USERS, InvertedPair, KappaDetails, Sibling
from sim.kappa_report import KappaGroup, KappaReport
from sim.kappa_words import batch_name, group_reading, node_name, percent, prefix_name, reading, remarks

__all__ = ["write_kappa_page"]

_NODES = 15


def write_kappa_page(report: KappaReport, out: Path) -> Path:
    """Write the page to `out`, whole or not at all; returns `out`.

    The page needs no network, follows the reader's light or dark setting, and holds one copy of plotly.js.
    """
    main = report.main_groups
    context = {
        "title": Path(report.source).name or report.source,
        "remarks": remarks(report) if report.groups else reading(report),
        "groups": report.groups,
        "parts": [_part(report, place) for place in range(len(report.groups))],
        "schedules": [_schedule_row(group) for group in report.groups] if report.is_run else [],
        "others": [group.schedule for group in report.groups if group not in main],
        "bounds": (kappa_bounds.against_realised(main), *kappa_bounds.over_batches(main)),
        "priced_users": USERS,
        "depth": kappa_depth.by_depth(main),
    }
    return write_page("kappa_page.html.j2", out, context)


def _part(report: KappaReport, place: int) -> Mapping[str, Any]:
    """What is shown of one schedule, or of the one batch of a file."""
    group, part = report.groups[place], report.parts[place]
    shown, users = part.shown, group.users()
    suffix = f"-{place}" if place else ""
    return {
        "label": _schedule_name(group) if report.is_run else "",
        "of": group.schedule if report.is_run else None,
        "where": _where(shown) if report.is_run else "",
        "reading": group_reading(group, named=report.is_run),
        "cards": _cards(group),
        "where_charts": (
            kappa_nodes.tree(part.tree, f"kappa-tree{suffix}"),
            kappa_nodes.slack(shown, f"slack{suffix}"),
        ),
        "nodes": _node_rows(shown),
        "pairs": [_pair_row(pair) for pair in part.pairs],
        "user_chart": kappa_users.costs(users, f"user-costs{suffix}"),
        "user_rows": kappa_users.rows(users),
        "num_users": len(users),
        "median": number(shown.median_multiplier),
        "excluded": _excluded_rows(shown),
    }


def _where(shown: KappaDetails) -> str:
    """Which batch the tree, the nodes and the pairs are of."""
    return f"{shown.found.priced.schedule}, {batch_name(shown)}: the batch with the largest possible loss."


def _schedule_name(group: KappaGroup) -> str:
    return str(group.schedule) if group.by_average_bid else f"{group.schedule}, if served by average bid"


def _cards(group: KappaGroup) -> Sequence[tuple[str, str, str]]:
    """Title, number and a note of each card."""
    kappas = np.concatenate([each.found.bound.kappa for each in group.batches])
    largest = float(kappas.max(initial=1.0))
    infinite = int(np.isinf(kappas).sum())
    simple = min(float(each.found.bound.simple_bound) for each in group.batches)
    excluded = f"infinite at {infinite:,} of {len(kappas):,} nodes" if infinite else f"of {len(kappas):,} nodes"
    verb = "what average-bid DFS made of the bids" if group.by_average_bid else "by average-bid DFS, had it served"
    return (
        ("Guaranteed", percent(group.guaranteed), f"Theorem 4.4; its simple form, 1/max κ, says {percent(simple)}"),
        ("Guaranteed pair by pair", percent(group.by_pairs), "our bound: each pair of siblings by itself"),
        ("Realised" if group.by_average_bid else "By average bid", percent(group.realised), verb),
        ("Lost", percent(1 - group.realised), f"of {number(group.best_welfare)}, the best DFS welfare"),
        ("Largest κ", _kappa(largest), excluded),
    )


def _kappa(kappa: float) -> str:
    return "∞" if math.isinf(kappa) else f"{kappa:,.4g}"


def _schedule_row(group: KappaGroup) -> tuple[str, ...]:
    bounds = [float(each.found.bound.bound) for each in group.batches]
    largest = max(float(each.found.bound.kappa.max(initial=1.0)) for each in group.batches)
    return (
        _schedule_name(group),
        f"{len(group.batches):,}",
        percent(group.guaranteed),
        percent(group.by_pairs),
        percent(group.realised),
        percent(min(bounds)),
        _kappa(largest),
    )


def _node_rows(shown: KappaDetails) -> tuple[tuple[str, ...], ...]:
    """The nodes that matter most: where, how many compete, κ, and shares of the best welfare."""
    found = shown.found
    ranked = np.lexsort((-found.weight, -found.allowed))[:_NODES]
    shares = (found.weight, found.allowed, shown.allowed_by_pairs, found.lost)
    return tuple(
        (
            node_name(place, int(found.depth_tokens[place])),
            f"{int(found.depth_tokens[place]):,}",
            f"{int(found.num_requests[place]):,}",
            f"{int(found.num_children[place]):,}",
            _kappa(float(found.bound.kappa[place])),
            *(percent(float(share[place])) for share in shares),
        )
        for place in ranked.tolist()
    )


def _excluded_rows(shown: KappaDetails) -> tuple[tuple[str, ...], ...]:
    """Nodes with an infinite κ, those with most welfare first, and why."""
    found, reasons = shown.found, shown.found.reasons()
    places = sorted(reasons, key=lambda place: -float(found.weight[place]))[:_NODES]
    return tuple(
        (
            node_name(place, int(found.depth_tokens[place])),
            f"{int(found.depth_tokens[place]):,}",
            percent(float(found.weight[place])),
            reasons[place],
        )
        for place in places
    )


def _pair_row(pair: InvertedPair) -> Mapping[str, Any]:
    return {
        "where": prefix_name(pair.depth_tokens),
        "ahead": _side(pair.ahead),
        "behind": _side(pair.behind),
        "lost": percent(pair.lost, 2),
    }


def _side(side: Sibling) -> Mapping[str, str]:
    owner = f" of {side.user}" if side.user is not None else ""
    if side.name is not None:
        what = f"request {side.name}{owner if side.user != side.name else ''}"
    else:
        what = f"{side.num_requests:,} requests{owner}"
    multiplier = side.average_bid / side.average_value if side.average_value > 0 else None
    paced = "no value" if multiplier is None else f"× {number(multiplier)}"
    return {"what": what, "worth": number(side.average_value), "bid": number(side.average_bid), "paced": paced}

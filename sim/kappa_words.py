"""The κ report in plain language: what is guaranteed, what came of it, and where the possible loss sits."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from sim.kappa_details import NOTHING, KappaDetails
from sim.kappa_report import KappaGroup, KappaReport

__all__ = ["batch_name", "group_reading", "node_name", "percent", "prefix_name", "reading", "remarks"]


def percent(share: float, decimals: int = 1) -> str:
    """A share in %, with as many decimals as it takes not to say 0 or 100 of what is neither.

    >>> percent(0.9812), percent(1.0), percent(0.99996), percent(0.00004), percent(0.0)
    ('98.1 %', '100 %', '99.996 %', '0.004 %', '0 %')
    """
    if min(abs(share), abs(1 - share)) < NOTHING:
        return "100 %" if share > 0.5 else "0 %"
    while decimals < 6 and f"{100 * share:.{decimals}f}" in {f"{end:.{decimals}f}" for end in (0, 100)}:
        decimals += 1
    text = f"{100 * share:.{decimals}f}"
    if float(text) in (0.0, 100.0):
        return "nearly 100 %" if share > 0.5 else "nearly 0 %"
    return f"{text} %"


def node_name(place: int, depth_tokens: int) -> str:
    """How one of the K nodes is called, in few letters: they are numbered in preorder."""
    return "root" if depth_tokens == 0 else f"node {place + 1}"


def prefix_name(depth_tokens: int) -> str:
    """Where a node stands, by the prefix its requests share."""
    tokens = "token" if depth_tokens == 1 else "tokens"
    return "the root" if depth_tokens == 0 else f"the prefix of {depth_tokens:,} {tokens}"


def batch_name(each: KappaDetails) -> str:
    """Which auction of a run."""
    priced = each.found.priced
    return f"batch {priced.batch} of trial {priced.trial}"


def reading(report: KappaReport) -> list[str]:
    """The report in a paragraph for every schedule that serves by average bid, the most important words first."""
    if not report.groups:
        return ["The run held no auction: there is nothing to guarantee."]
    return [group_reading(group, named=report.is_run) for group in report.main_groups] + remarks(report)


def remarks(report: KappaReport) -> list[str]:
    """What holds for the whole report."""
    said = []
    main = report.main_groups
    if main and not main[0].by_average_bid:
        said.append(
            "No schedule of this run serves by average bid; the figures are what average-bid DFS would have made of "
            f"the bids under {main[0].schedule}."
        )
    if not report.is_run and report.shown is not None and not report.shown.found.priced.has_values:
        said.append("The file states no values: every bid was taken for one.")
    return said


def group_reading(group: KappaGroup, *, named: bool) -> str:
    """One schedule in a paragraph, or the batch of a file."""
    return " ".join(_of_group(group, named=named))


def _of_group(group: KappaGroup, *, named: bool) -> list[str]:
    what = ""
    if named:
        count = len(group.batches)
        otherwise = "" if group.by_average_bid else ", had average-bid DFS served"
        what = f"{group.schedule}, {count:,} auction{'s' if count != 1 else ''}{otherwise}: "
    if not any(len(each.found.bound.node) for each in group.batches):
        many = len(group.batches) > 1
        why = "requests wait one at a time" if many else "one request waits alone"
        return [f"{what}nobody competes: {why}, so there is no welfare to lose."]
    if group.best_welfare == 0:
        return [f"{what}no order is worth more than another, so there is nothing to lose."]
    if group.guaranteed > 1 - NOTHING:
        even = "siblings that compete are paced alike, so no welfare can be lost."
        return [f"{what}100 % guaranteed and realised: {even}"]
    shares = f"{percent(group.guaranteed)} guaranteed, {percent(group.realised)} realised"
    said = [f"{what}{shares}{_worst(group)}; {_where(group)}", *_excluded(group)]
    if group.by_pairs - group.guaranteed > 0.01:
        said.append(f"Looked at pair by pair (our tighter bound), {percent(group.by_pairs)} is guaranteed.")
    return said


def _worst(group: KappaGroup) -> str:
    """The batch with the lowest bound, where there are several."""
    if len(group.batches) == 1:
        return ""
    worst = min(group.batches, key=lambda each: float(each.found.bound.bound))
    bound, ratio = percent(worst.found.bound.bound), percent(worst.found.bound.ratio)
    return f" (at worst {bound} and {ratio}, in {batch_name(worst)})"


def _where(group: KappaGroup) -> str:
    """Where the loss that the bound allows sits: one node, or one depth."""
    if len(group.batches) == 1:
        return _where_in_batch(group.batches[0])
    by_depth: dict[int, float] = defaultdict(float)
    for each in group.batches:
        for depth, allowed in zip(each.found.depth_tokens.tolist(), each.found.allowed.tolist(), strict=True):
            by_depth[depth] += allowed * each.found.best_welfare
    depth = max(by_depth, key=lambda depth: by_depth[depth])
    share = by_depth[depth] / sum(by_depth.values())
    root = by_depth[0] / sum(by_depth.values())
    if root >= 0.3 or depth == 0:
        return f"{percent(root, 0)} of the possible loss sits at the root, where whole prefix groups compete."
    if share >= 0.3:
        return f"{percent(share, 0)} of the possible loss sits below prefixes of {depth:,} tokens."
    return f"the possible loss is spread over the tree, {percent(root, 0)} of it at the root."


def _where_in_batch(each: KappaDetails) -> str:
    found = each.found
    allowed = np.sort(found.allowed)[::-1]
    top, total = int(found.allowed.argmax()), float(allowed.sum())
    share = float(found.allowed[top]) / total
    if share < 0.3:
        few = min(5, len(allowed))
        return (
            f"the possible loss is spread: the {few} worst of {len(allowed):,} nodes hold "
            f"{percent(float(allowed[:few].sum()) / total, 0)} of it."
        )
    kappa = float(found.bound.kappa[top])
    apart = "κ is infinite" if math.isinf(kappa) else f"multipliers are up to {kappa:.3g} times apart"
    where = prefix_name(int(found.depth_tokens[top]))
    return (
        f"{percent(share, 0)} of the possible loss sits at one node: {where}, where "
        f"{int(found.num_children[top]):,} branches with {int(found.num_requests[top]):,} requests compete and {apart}."
    )


def _excluded(group: KappaGroup) -> list[str]:
    nodes, unlike, held = 0, 0, 0.0
    for each in group.batches:
        bound = each.found.bound
        infinite = np.isinf(bound.kappa)
        nodes += int(infinite.sum())
        unlike += int((infinite & (bound.value_without_bid + bound.bid_without_value == 0)).sum())
        held += float(each.found.weight[infinite].sum()) * each.found.best_welfare
    share = held / group.best_welfare
    if not nodes or share <= NOTHING:
        return []
    hole = "something there has value and no bid, or a bid and no value"
    apart = "multipliers there are further apart than a double can hold"
    why = apart if unlike == nodes else f"{hole}{f'; at {unlike:,} of them, {apart}' if unlike else ''}"
    where = f"{nodes:,} node{'s' if nodes != 1 else ''} with {percent(share)} of the welfare"
    return [f"Nothing is guaranteed at {where}: {why}."]

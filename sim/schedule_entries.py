"""The `schedule:`, `payment:` and `bidding:` blocks: which mechanisms a run compares, and what users say to each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mechanism.model import PricingRule, SchedulingRule, SetsPriorities, StaysWithinBids
from sim import plugins
from sim.backend import TakesPriorities
from sim.bidding_entries import BiddingEntry, read_bidding
from sim.errors import ScenarioError, did_you_mean
from sim.parameters import plain
from sim.scenario_blocks import USE_FOLDERS, choose, find_in
from sim.yaml_source import KeyPath, Source

__all__ = ["ScheduleEntry", "check_priorities", "read_schedules"]


@dataclass(frozen=True, kw_only=True)
class ScheduleEntry:
    """One mechanism of a run.

    Attributes
    ----------
    label : its name in records and reports, unique in the run.
    use, rule : the scheduling plugin.
    payment, pricing : the pricing plugin.
    bidding : the agents that bid, with their shares of the users.
    """

    label: str
    use: str
    rule: SchedulingRule
    payment: str
    pricing: PricingRule
    bidding: tuple[BiddingEntry, ...]


def read_schedules(source: Source) -> tuple[ScheduleEntry, ...]:
    """The mechanisms in the order given.

    Raises
    ------
    ScenarioError
        No schedule, a label twice, a payment that is not defined under its schedule, or agents that keep a budget where
        payments may exceed what users declare.
    """
    raw = source.data.get("schedule")
    items = raw if isinstance(raw, list) else [raw]
    if not items or raw is None:
        found = "nothing" if raw is None else "an empty list"
        raise ScenarioError(source.where(("schedule",)), found, "a schedule such as dfs-bid, or a list of them")
    paths: list[KeyPath] = [("schedule", i) for i in range(len(items))] if isinstance(raw, list) else [("schedule",)]
    labels = [_label(source, path, item) for path, item in zip(paths, items, strict=True)]
    for i, label in enumerate(labels):
        if label in labels[:i]:
            hint = f"Give one of them a label: {{use: {label}, label: …}}."
            raise ScenarioError(source.where(paths[i]), f'"{label}" twice', "labels that differ", hint)
    for key in ("payment", "bidding"):
        _check_labels(source, key, labels)
    return tuple(map(lambda *args: _entry(source, *args), paths, items, labels))


def check_priorities(
    source: Source, schedules: Iterable[ScheduleEntry], use: str, config: Any, backend_types: Mapping[str, type[Any]]
) -> None:
    """ScenarioError if a schedule leaves the order to the server's queue and that takes no priorities."""
    entry = next((each for each in schedules if isinstance(each.rule, SetsPriorities)), None)
    if entry is None:
        return
    if not isinstance(config, TakesPriorities):
        able = ", ".join(name for name, kind in backend_types.items() if issubclass(kind, TakesPriorities))
        found = f'"{use}" under the schedule "{entry.label}"'
        expected = f"a backend that lets requests have priorities: {able}"
        raise ScenarioError(source.where(("backend", "use")), found, expected)
    try:
        config.check_priorities()
    except ScenarioError as error:  # the key is the configuration's to name, the file, line and schedule are ours
        found = f'{error.found} under the schedule "{entry.label}"'
        where = source.where(("backend", *error.where.split(".")))
        raise ScenarioError(where, found, error.expected, error.suggestion) from None


def _label(source: Source, path: KeyPath, item: Any) -> str:
    label = item.get("label", item.get("use")) if isinstance(item, dict) else item
    if not isinstance(label, str) or not label:
        raise ScenarioError(source.where(path), json.dumps(item), "a schedule's name, or a block with the key use")
    return label


def _entry(source: Source, path: KeyPath, item: Any, label: str) -> ScheduleEntry:
    if isinstance(item, dict):
        item = {key: value for key, value in item.items() if key != "label"}
    use, rule = choose(source, path, item, "use", find_in(USE_FOLDERS["schedule"]))
    at, wanted = _for_label(source, "payment", label, "default")
    if wanted == "default":
        wanted = _own_payment(rule)
    payment, pricing = choose(source, at, wanted, "use", find_in(USE_FOLDERS["payment"]))
    if not pricing.defined_for(rule):
        hint = f"The schedule's own is {rule.default_payment}."
        raise ScenarioError(
            source.where(at if "payment" in source.data else path),
            f'the payment "{payment}" for the schedule "{label}"',
            "a payment that is defined under the schedule",
            hint,
        )
    at, wanted = _for_label(source, "bidding", label, "truthful")
    bidding = read_bidding(source, at, wanted)
    bounded = pricing.individually_rational or isinstance(pricing, StaysWithinBids)
    if any(each.agent.keeps_a_budget for each in bidding) and not bounded:
        found = f'agents with a budget under the payment "{payment}"'
        hint = "They keep it by bidding no more than is left, which bounds nothing where payments may exceed bids."
        raise ScenarioError(source.where(at), found, "a payment that never exceeds what its user bids", hint)
    return ScheduleEntry(label=label, use=use, rule=rule, payment=payment, pricing=pricing, bidding=bidding)


def _own_payment(rule: SchedulingRule) -> dict[str, Any]:
    """The schedule's own payment rule; parameters that the two have in common are the schedule's."""
    parameters = fields(plugins.load(USE_FOLDERS["payment"], rule.default_payment))
    shared = {f.name: plain(getattr(rule, f.name)) for f in parameters if f.init and hasattr(rule, f.name)}
    return {"use": rule.default_payment, **shared}


def _for_label(source: Source, key: str, label: str, default: str) -> tuple[KeyPath, Any]:
    """Where a block says what holds for a label, and what it says; a block without `use` is one of labels."""
    raw = source.data.get(key, default)
    if isinstance(raw, dict) and "use" not in raw:
        return (key, label), raw.get(label, default)
    return (key,), raw


def _check_labels(source: Source, block: str, labels: list[str]) -> None:
    raw = source.data.get(block)
    if not isinstance(raw, dict) or "use" in raw:
        return
    for key in raw:
        if key not in labels:
            where = source.where((block, key))
            raise ScenarioError(where, f'"{key}"', "a schedule's label", did_you_mean(str(key), labels))

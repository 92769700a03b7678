"""The `schedule:` and `payment:` blocks: which mechanisms a run compares, each a pair of rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mechanism.model import PricingRule, SchedulingRule
from sim.errors import ScenarioError, did_you_mean
from sim.scenario_blocks import USE_FOLDERS, choose, find_in
from sim.yaml_source import KeyPath, Source

__all__ = ["ScheduleEntry", "read_schedules"]


@dataclass(frozen=True, kw_only=True)
class ScheduleEntry:
    """One mechanism of a run.

    Attributes
    ----------
    label : its name in records and reports, unique in the run.
    use, rule : the scheduling plugin.
    payment, pricing : the pricing plugin.
    """

    label: str
    use: str
    rule: SchedulingRule
    payment: str
    pricing: PricingRule


def read_schedules(source: Source) -> tuple[ScheduleEntry, ...]:
    """The mechanisms in the order given.

    Raises
    ------
    ScenarioError
        No schedule, a label twice, or a payment that is not defined under its schedule.
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
    _check_payment_labels(source, labels)
    return tuple(map(lambda *args: _entry(source, *args), paths, items, labels))


def _label(source: Source, path: KeyPath, item: Any) -> str:
    label = item.get("label", item.get("use")) if isinstance(item, dict) else item
    if not isinstance(label, str) or not label:
        raise ScenarioError(source.where(path), json.dumps(item), "a schedule's name, or a block with the key use")
    return label


def _entry(source: Source, path: KeyPath, item: Any, label: str) -> ScheduleEntry:
    if isinstance(item, dict):
        item = {key: value for key, value in item.items() if key != "label"}
    use, rule = choose(source, path, item, "use", find_in(USE_FOLDERS["schedule"]))
    at, wanted = _payment(source, label)
    if wanted == "default":
        wanted = rule.default_payment
    payment, pricing = choose(source, at, wanted, "use", find_in(USE_FOLDERS["payment"]))
    if not pricing.defined_for(rule):
        hint = f"The schedule's own is {rule.default_payment}."
        raise ScenarioError(
            source.where(at if "payment" in source.data else path),
            f'the payment "{payment}" for the schedule "{label}"',
            "a payment that is defined under the schedule",
            hint,
        )
    return ScheduleEntry(label=label, use=use, rule=rule, payment=payment, pricing=pricing)


def _payment(source: Source, label: str) -> tuple[KeyPath, Any]:
    """Where the payment of a label stands, and what stands there."""
    raw = source.data.get("payment", "default")
    if isinstance(raw, dict) and "use" not in raw:
        return ("payment", label), raw.get(label, "default")
    return ("payment",), raw


def _check_payment_labels(source: Source, labels: list[str]) -> None:
    raw = source.data.get("payment")
    if not isinstance(raw, dict) or "use" in raw:
        return
    for key in raw:
        if key not in labels:
            where = source.where(("payment", key))
            raise ScenarioError(where, f'"{key}"', "a schedule's label", did_you_mean(key, labels))

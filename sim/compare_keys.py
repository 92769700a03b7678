"""A resolved scenario as dotted keys, and as one of its schedules sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["BESIDE", "facts_of", "short", "whole", "word"]

#: Blocks that hold something for each schedule.
_PER_SCHEDULE = ("schedule", "payment", "bidding")
#: Keys that do not change what a setting is: how its runs are judged, and how many there are.
BESIDE = ("validation", "trials")


def facts_of(scenario: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Dotted key → scalar; of schedules, payments and bidding, what concerns `label`.

    >>> scenario = {"batching": {"size": 8}, "schedule": [{"use": "tiers", "label": "t3", "tiers": 3}]}
    >>> facts_of(scenario, "t3")
    {'batching.size': 8, 'schedule.use': 'tiers', 'schedule.tiers': 3}
    """
    facts: dict[str, Any] = {}
    for key, block in scenario.items():
        if key in BESIDE:
            continue
        mine = _of_schedule(key, block, label) if key in _PER_SCHEDULE else block
        facts.update(_flat(key, mine))
    return facts


def word(value: Any) -> str:
    """A value as a scenario spells it, on one line.

    >>> word(64), word(None), word("dfs-bid"), word({"use": "tiers"}), word(0.5), word(True)
    ('64', 'null', 'dfs-bid', '{"use": "tiers"}', '0.5', 'true')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def short(value: Any) -> str:
    """The word for a reader: fractions to six significant digits, and a minus that is one.

    >>> short(0.123456789), short(-3), short(-0.25), short("bid-sort")
    ('0.123457', '−3', '−0.25', 'bid-sort')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return word(value)
    return (f"{value:.6g}" if isinstance(value, float) else str(value)).replace("-", "\N{MINUS SIGN}")


def whole(value: Any) -> Any:
    """Whole floats as integers, so that 64 and 64.0 are one value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _of_schedule(key: str, block: Any, label: str) -> Any:
    if key == "schedule":
        entries = block if isinstance(block, list) else [block]
        mine = next((entry for entry in entries if isinstance(entry, Mapping) and entry.get("label") == label), {})
        return {name: value for name, value in mine.items() if name != "label"}
    if isinstance(block, Mapping) and label in block:
        return block[label]
    # `payment` has an entry for each label; `bidding` may be one for all
    return {} if key == "payment" and isinstance(block, Mapping) else block


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif isinstance(value, list):
        yield key, json.dumps(value, ensure_ascii=False, default=str)
    else:
        yield key, value

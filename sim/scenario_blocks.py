"""The small blocks of a scenario, and which classes its chosen blocks may name."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from sim import arrivals, plugins, users, values
from sim.errors import ScenarioError, did_you_mean
from sim.parameters import build
from sim.quantities import LARGEST_INTEGER, Count, NumRequests, Percent, PositiveMilliseconds, Seconds
from sim.sweep_block import SweepBlock
from sim.yaml_source import KeyPath, Source

__all__ = [
    "BLOCKS",
    "KIND_FOLDERS",
    "USE_FOLDERS",
    "Batching",
    "Dispatch",
    "Header",
    "Slo",
    "Validation",
    "choose",
    "find_in",
]

#: Finds the class a name stands for, or raises a ScenarioError that starts with the given address.
Finder = Callable[[str, str], type[Any]]


@dataclass(frozen=True, kw_only=True)
class Header:
    """A scenario's own numbers.

    Attributes
    ----------
    name : what the experiment is called; names the run folder.
    seed : of every random stream.
    trials : repetitions with independent streams; standard errors are over trials.
    warmup_s : open arrivals: requests that arrive earlier are outside the metrics.
    cooldown_s : open arrivals: requests that arrive in the last this many seconds are outside the metrics.
    """

    name: str
    seed: Annotated[int, Field(ge=0, le=LARGEST_INTEGER)] = 0
    trials: NumRequests = 1
    warmup_s: Seconds = 0.0
    cooldown_s: Seconds = 0.0

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ScenarioError("name", "an empty name", "a name for the experiment")


@dataclass(frozen=True, kw_only=True)
class Batching:
    """When waiting requests become an auction.

    Attributes
    ----------
    size : requests of one auction.
    max_wait_s : a smaller batch is formed when its oldest request has waited this long.
    """

    size: Count = 256
    max_wait_s: Seconds = 0.5


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """How much of a schedule the engine sees.

    Attributes
    ----------
    in_flight : requests inside the engine at once, from submit to finish; null = no limit. Schedules that leave the
        order to the server's own queue, such as priority-preemptive, send everything at once.
    """

    in_flight: Count | None = 1


@dataclass(frozen=True, kw_only=True)
class Slo:
    """The latency targets a request must meet to count as goodput.

    Attributes
    ----------
    ttft_ms : time to first token.
    tpot_ms : time per output token.
    e2el_ms : end-to-end latency.
    """

    ttft_ms: PositiveMilliseconds | None = None
    tpot_ms: PositiveMilliseconds | None = None
    e2el_ms: PositiveMilliseconds | None = None

    @property
    def targets(self) -> tuple[tuple[str, float], ...]:
        """(metric, limit in ms) of every target that is set."""
        named = {"ttft_ms": self.ttft_ms, "tpot_ms": self.tpot_ms, "e2el_ms": self.e2el_ms}
        return tuple((name, limit) for name, limit in named.items() if limit is not None)


@dataclass(frozen=True, kw_only=True)
class Validation:
    """How far a simulated run may differ from a live one; null = shown, not judged.

    Attributes
    ----------
    ttft_mean_pct : the mean of server_ttft_s, %.
    ttft_p90_pct : its 90th percentile, %.
    hit_rate_pp : the hit rate of runs in which nothing is evicted, percentage points.
    hit_rate_evicting_pp : the hit rate of the others, percentage points.
    order_tau : at least, Kendall's τ of the order of first tokens.
    welfare_pct : welfare on the realised order, %.
    throughput_pct : requests served per second, %.
    """

    ttft_mean_pct: Percent | None = 10.0
    ttft_p90_pct: Percent | None = 10.0
    hit_rate_pp: Percent | None = 0.5
    hit_rate_evicting_pp: Percent | None = 2.0
    order_tau: Annotated[float, Field(ge=-1, le=1)] | None = 0.95
    welfare_pct: Percent | None = 2.0
    throughput_pct: Percent | None = None

    def thresholds(self, *, evicting: bool) -> dict[str, float | None]:
        """By measure of `sim.fidelity.Agreement`."""
        return {
            "ttft_mean_pct": self.ttft_mean_pct,
            "ttft_p90_pct": self.ttft_p90_pct,
            "hit_rate_pp": self.hit_rate_evicting_pp if evicting else self.hit_rate_pp,
            "order_tau": self.order_tau,
            "welfare_pct": self.welfare_pct,
            "throughput_pct": self.throughput_pct,
        }


#: Blocks without a choice.
BLOCKS: dict[str, type[Any]] = {
    "batching": Batching,
    "dispatch": Dispatch,
    "slo": Slo,
    "validation": Validation,
    "sweep": SweepBlock,
}

#: Blocks chosen by `kind`: from a plugin folder, or among a module's classes.
KIND_FOLDERS: dict[str, str | Mapping[str, type[Any]]] = {
    "workload": "sim.workloads",
    "users": users.KINDS,
    "values": values.KINDS,
    "arrivals": arrivals.KINDS,
}

#: Blocks chosen by `use`, each a plugin folder.
USE_FOLDERS = {"schedule": "mechanism.scheduling", "payment": "mechanism.pricing", "bidding": "mechanism.bidding"}


#: What a class must have to stand in a block; classes from outside the repository may lack it.
_PARTS = {
    "workload": ("generate", "recorded"),
    "schedule": ("order", "domain", "bid_blind", "default_payment"),
    "payment": ("charge", "defined_for", "truthful", "individually_rational"),
    "bidding": ("start", "needs", "keeps_a_budget"),
}


def choose(source: Source, path: KeyPath, raw: Any, tag: str, finder: Finder) -> tuple[str, Any]:
    """The name a block gives under `tag`, and an instance of what it names with the block's other keys.

    A bare name is short for ``{tag: name}``. Where an option set the name, keys of the file that it does not take
    are those of the name before it, and fall away.
    """
    block = {tag: raw} if isinstance(raw, str) else raw
    where = source.where(path)
    if not isinstance(block, dict):
        raise ScenarioError(where, json.dumps(raw), f"a name, or a block with the key {tag}")
    name = block.get(tag)
    if not isinstance(name, str):
        found = json.dumps(name) if tag in block else "nothing"
        raise ScenarioError(source.where((*path, tag)), found, f"a name under {tag}")
    cls = finder(name, where if isinstance(raw, str) else source.where((*path, tag)))
    if not dataclasses.is_dataclass(cls):
        raise ScenarioError(where, f"{cls.__name__}", "a frozen dataclass, whose fields are the keys")
    if lacking := [part for part in _PARTS.get(str(path[0]), ()) if not hasattr(cls, part)]:
        raise ScenarioError(where, f"{cls.__name__}, which has no {lacking[0]}", f"a class made for {path[0]}")
    keys = {key: value for key, value in block.items() if key != tag}
    if source.laid_over((*path, tag)):  # another kind than the file's: what the file says beside it was of the old one
        known = {field.name for field in dataclasses.fields(cls)}
        keys = {key: value for key, value in keys.items() if key in known or source.laid_over((*path, key))}
    return name, build(cls, keys, source, path)


def find_in(choices: str | Mapping[str, type[Any]]) -> Finder:
    """The finder of a plugin folder or of a mapping."""
    if isinstance(choices, str):
        folder = choices
        return lambda name, where: plugins.load(folder, name, where)

    def find(name: str, where: str) -> type[Any]:
        if name not in choices:
            raise ScenarioError(where, f'"{name}"', "a known name", did_you_mean(name, choices))
        return choices[name]

    return find

"""With several requests inside the engine, who meets whom in a pass depends on the server's clock.

Given that order, taken from a log of the server's passes, every decision and every request's cached tokens are the
same: that is one half. The other half, how often the simulator's own clock meets it, is in test_calibrate_validate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_kit import PARITY, Setting, require
from replay_kit import Event, replay, seen, told

from backends.sglang import Sglang
from sim.engine import Engine, EngineConfig
from sim.replayed_outputs import Fed, Recording
from sim.requests import RequestTable
from sim.scenario import load_scenario
from sim.simulate import run

pytestmark = pytest.mark.live

SETTING = Setting(version="0.5.23", overlap=True)
SCENARIO = PARITY + "backend: {{use: sglang, url: '{url}'}}\n"


@dataclass(frozen=True)
class Remembering:
    """A live configuration that keeps the requests it served, by (schedule, trial)."""

    config: Sglang
    tables: dict[tuple[str, int], RequestTable] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.config, name)

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> Any:
        self.tables[(schedule, trial)] = requests
        return self.config.create(requests, schedule, trial)


@dataclass(frozen=True)
class Bare:
    """Makes engines without a clock."""

    config: EngineConfig

    def create(self, requests: RequestTable, *_: Any) -> Engine:
        return Engine(self.config, requests)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sglang, Path]]:
    require(SETTING.version)
    log = tmp_path_factory.mktemp("passes") / "passes.jsonl"
    launch = SETTING.launch()
    with Sglang(launch=replace(launch, env={**launch.env, "PASS_LOG": str(log)})).open() as server:
        yield server, log


def trials(log: Path, requests: int) -> list[list[Event]]:
    """The events of every trial: from the flush before it until nothing more runs."""
    found: list[list[Event]] = []
    for event in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if event[0] == "flush":
            found.append([])
        elif found:
            found[-1].append(event)
    return [trial(events, requests) for events in found]


def trial(events: list[Event], requests: int) -> list[Event]:
    """Without the turns before the first arrival, and without the probe before the next trial."""
    queued = [number for number, event in enumerate(events) if event[0] == "queue" and event[2] == "new"]
    end = queued[requests] if len(queued) > requests else len(events)
    return events[queued[0] : end]


@pytest.mark.parametrize("in_flight", [4, 8], ids=lambda count: f"{SETTING.version}-{count}")
def test_decisions_are_equal_given_the_order_of_arrivals_against_passes(
    served: tuple[Sglang, Path], in_flight: int, tmp_path: Path
) -> None:
    server, log = served
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.format(in_flight=in_flight, url=server.url), encoding="utf-8")
    scenario = load_scenario(path, {"sglang": Sglang})
    remembering = Remembering(scenario.backend.config)  # type: ignore[arg-type]
    recording = Recording(remembering)
    live = run(scenario, recording)
    assert live.warnings == []
    simulated = SETTING.simulated(live.server)
    names = ("engine", "overlap", "kv_tokens", "page_tokens", "chunked_prefill_tokens", "max_prefill_tokens")
    config = EngineConfig(**{name: getattr(simulated, name) for name in names})
    fed = Fed(Bare(config), recording.outputs, shares_ids=live.server["prompt_ids"] == "own")  # type: ignore[arg-type]
    rows, passes = pl.concat(live.frames["requests"]), trials(log, 64)[-len(remembering.tables) :]
    for (schedule, number), events in zip(remembering.tables, passes, strict=True):
        table = remembering.tables[(schedule, number)]
        engine: Any = fed.create(table, schedule, number)
        ours = rows.filter(pl.col("schedule") == schedule).sort("position")["request_id"].to_list()
        arrived = [event[1] for event in events if event[0] == "queue" and event[2] == "new"]
        index_of = {rid: table.request_id.index(name) for rid, name in zip(arrived, ours, strict=True)}
        ids = [""] * len(table)
        for rid, index in index_of.items():
            ids[index] = rid
        for turn, (event, batch) in enumerate(replay(engine, events, index_of, overlap=SETTING.overlap)):
            assert seen(engine, batch, ids) == told(event), (schedule, turn)
        theirs = dict(rows.filter(pl.col("schedule") == schedule).select("request_id", "cached_tokens").iter_rows())
        assert dict(zip(table.request_id, engine.cached_tokens, strict=True)) == theirs

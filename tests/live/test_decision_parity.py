"""A real SGLang and the simulated one find the same tokens in their caches, request by request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from live_kit import PARITY, Setting, live_and_simulated, running

from backends.sglang import Sglang
from sim import admission
from sim import running as sim_running

pytestmark = pytest.mark.live

SETTINGS = [
    Setting(version=version, page_tokens=page, overlap=overlap, conservativeness=0.3 if version == "0.5.9" else 1.0)
    for version in ("0.5.23", "0.5.9")
    for page in (1, 16)
    for overlap in (False, True)
]

#: Tokens of remaining output that 0.5.23 reserves where it is told not to reserve all of it.
CLIPPED = 8


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Sglang, Setting]]:
    with running(request.param) as server:
        yield server, request.param


@pytest.mark.parametrize("in_flight", ["1", "null"], ids=["serial", "all-at-once"])
def test_same_cached_tokens(served: tuple[Sglang, Setting], in_flight: str, tmp_path: Path) -> None:
    server, setting = served
    live, simulated = live_and_simulated(tmp_path, PARITY.format(in_flight=in_flight), server, setting)
    assert live.warnings == []
    assert all(run["order"] == {"dated": 64, "inversions": 0} for run in live.server["runs"])
    columns = ["schedule", "request_id", "status", "position", "output_tokens", "cached_tokens", "num_retractions"]
    ours = pl.concat(simulated.frames["requests"]).select(columns)
    theirs = pl.concat(live.frames["requests"]).select(columns)
    different = ours.join(theirs, on=columns, how="anti", nulls_equal=True)
    assert different.is_empty(), different.join(theirs, on=["schedule", "request_id"])
    assert pl.concat(simulated.frames["engine_steps"])["evicted_tokens"].sum() > 0
    if setting.version == "0.5.9" and in_flight == "null":  # 0.5.23 reserves all output of requests that ignore EOS
        assert theirs["num_retractions"].sum() > 0


@pytest.mark.parametrize("overlap", [False, True], ids=["0.5.23-no-overlap", "0.5.23-overlap"])
def test_retraction_where_output_is_reserved(overlap: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.5.23 reserves all output of requests that ignore EOS: only told to reserve less does it run short."""
    for module in (admission, sim_running):
        monkeypatch.setattr(module, "CLIPPED_NEW_TOKENS", CLIPPED)
    setting = Setting(version="0.5.23", overlap=overlap, clipped_tokens=CLIPPED)
    with running(setting) as server:
        live, simulated = live_and_simulated(tmp_path, PARITY.format(in_flight="null"), server, setting)
    columns = ["schedule", "request_id", "status", "position", "output_tokens", "cached_tokens", "num_retractions"]
    ours = pl.concat(simulated.frames["requests"]).select(columns)
    theirs = pl.concat(live.frames["requests"]).select(columns)
    assert theirs["num_retractions"].sum() > 0
    different = ours.join(theirs, on=columns, how="anti", nulls_equal=True)
    assert different.is_empty(), different.join(theirs, on=["schedule", "request_id"])

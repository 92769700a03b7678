"""Every recording of a real SGLang server, 0.5.9 and 0.5.23, reproduced pass by pass.

The recordings (`sglang-*/*.json.gz`) were made by a logging hook on an unmodified server: arrivals and passes in
order. Fed the same arrivals before each pass and nothing else, the engine must decide the same every time.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from engine_kit import request_table
from replay_kit import replay, seen, told

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig
from sim.requests import RequestTable

RECORDINGS = sorted(Path(__file__).parent.glob("sglang-*/*.json.gz"))


def load(path: Path) -> dict[str, Any]:
    with gzip.open(path) as file:
        recording: dict[str, Any] = json.load(file)
    return recording


def table_of(requests: list[dict[str, Any]]) -> RequestTable:
    outputs = [each["output_ids"] for each in requests]
    lengths = [len(each) for each in outputs]
    return request_table([each["input_ids"] for each in requests], lengths, Prompts.from_lists(outputs))


def config_of(recording: dict[str, Any]) -> EngineConfig:
    return EngineConfig(engine=recording["sglang"], **recording["server"])


def test_all_recordings_are_here() -> None:
    assert Counter(path.parent.name for path in RECORDINGS) == {"sglang-0.5.9": 55, "sglang-0.5.23": 47}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_recording_is_reproduced(path: Path) -> None:
    recording = load(path)
    requests, overlap = recording["requests"], recording["server"]["overlap"]
    ids = [each["id"] for each in requests]
    engine = Engine(config_of(recording), table_of(requests))
    index_of = {name: index for index, name in enumerate(ids)}
    for number, (event, batch) in enumerate(replay(engine, recording["events"], index_of, overlap=overlap)):
        assert seen(engine, batch, ids) == told(event), number
        assert engine.new_token_ratio == pytest.approx(event[4], abs=1e-6), number
    assert engine.cached_tokens == [each["cached_tokens"] for each in requests]
    assert engine.num_retractions == [each["total_retractions"] for each in requests]

"""Our cache against SGLang 0.5.9's own `RadixCache`: serial workloads with eviction, equal hits and equal slots."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sglang_oracle
from engine_kit import random_table

from sim.engine import Engine, EngineConfig
from sim.requests import RequestTable

pytestmark = pytest.mark.skipif(not sglang_oracle.AVAILABLE, reason=sglang_oracle.WHY_NOT)

EVICTIONS = ["lru", "fifo", "mru", "filo", "lfu", "priority"]
WORKLOADS_EACH = 20


@pytest.fixture(scope="module")
def sglang() -> Any:
    return sglang_oracle.load()


def serve_one(engine: Engine, index: int) -> int:
    """Serve one request to its end; returns the tokens evicted for it."""
    engine.enqueue(index)
    evicted = 0
    while (batch := engine.schedule()) is not None:
        evicted += batch.evicted_tokens
        engine.complete(batch)
    return evicted


def text(requests: RequestTable, index: int) -> tuple[list[int], list[int]]:
    """Prompt and output as token lists; private tokens are numbers no other request has."""
    prompts, outputs = requests.prompts, requests.output_ids
    assert outputs is not None
    assert requests.output_recorded is not None
    prompt = prompts.symbols[prompts.indptr[index] : prompts.indptr[index + 1]].tolist()
    output = outputs.symbols[outputs.indptr[index] : outputs.indptr[index + 1]].tolist()
    if not requests.output_recorded[index]:
        output = [1000 * (index + 1) + step for step in range(len(output))]
    return prompt, output


@pytest.mark.parametrize("page", [1, 16])
@pytest.mark.parametrize("eviction", EVICTIONS)
def test_serial_workloads_hit_alike(sglang: Any, eviction: str, page: int) -> None:
    hits = evicted = 0
    for seed in range(WORKLOADS_EACH):
        rng = random.Random(f"{eviction} {page} {seed}")
        requests = random_table(rng, count=25, longest=60, outputs=20)
        kv_tokens = rng.choice([192, 256, 400, 640])
        server = sglang_oracle.SerialServer(sglang, kv_tokens=kv_tokens, page=page, eviction=eviction)
        config = EngineConfig(engine="0.5.9", overlap=False, kv_tokens=kv_tokens, page_tokens=page, eviction=eviction)
        engine = Engine(config, requests)
        for index in range(len(requests)):
            cached = server.serve(*text(requests, index))
            evicted += serve_one(engine, index)
            assert engine.cached_tokens[index] == cached, (seed, index)
            assert engine.memory.free == server.allocator.available_size(), (seed, index)
            assert engine.memory.cache.evictable == server.cache.evictable_size(), (seed, index)
            hits += cached
    assert hits > 1000
    assert evicted > 1000

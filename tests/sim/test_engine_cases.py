"""Faults others' users met (CASES.md A1–A4, A6, D17), at the engine: each must be impossible here."""

from __future__ import annotations

import random

import pytest
from engine_kit import Arrivals, drive, request_table, served

from sim.backend import Limits
from sim.engine import Engine, EngineConfig
from sim.errors import InvariantError

BOTH = pytest.mark.parametrize("engine", ["0.5.9", "0.5.23"])
OVERLAP = pytest.mark.parametrize("overlap", [False, True])


@BOTH
def test_retraction_does_not_count_a_requests_own_tokens_as_hits(engine: str) -> None:
    """A1. Two requests of 100 + 50 and 50 + 36 tokens; after 20 outputs each, the slots are gone."""
    requests = request_table([[1] * 99 + [2], [3] * 50], [50, 36])
    config = EngineConfig(
        engine=engine,
        overlap=False,
        kv_tokens=100 + 50 + 2 * 19,
        schedule_conservativeness=0.02,
        ignore_eos=False,
    )
    engine_run = Engine(config, requests)
    log = drive(engine_run, Arrivals([0, 1]), overlap=False, check=True)
    assert engine_run.num_retractions == [1, 0]  # equal outputs: the longest prompt goes
    assert engine_run.cached_tokens == [0, 0]
    prefills = [entry[2] for entry in log if entry[0] == "pass" and entry[2] and entry[2][0] == "prefill"]
    assert [batch[1] for batch in prefills] == [(0,), (1,), (0,)]
    assert prefills[2][2] == ()  # admitted for the first time: nobody
    decodes = [entry[2] for entry in log if entry[0] == "pass" and entry[2] and entry[2][0] == "decode"]
    assert [batch[1] for batch in decodes].count((0, 1)) == 19


@BOTH
@OVERLAP
def test_distinct_prompts_never_hit(engine: str, overlap: bool) -> None:
    """A2. 50 random prompts at 60 % of the memory they want: the hit rate is exactly 0."""
    rng = random.Random(2)
    prompts = [[index] + [rng.randrange(1000) for _ in range(99)] for index in range(50)]
    requests = request_table(prompts, [40] * 50)
    config = EngineConfig(
        engine=engine,
        overlap=overlap,
        kv_tokens=int(0.6 * 50 * 140),
        schedule_conservativeness=0.02,
        ignore_eos=False,
    )
    run = served(config, requests, [0] * 50, check=True)
    assert run.cached_tokens == [0] * 50
    assert sum(run.num_retractions) > 0


@BOTH
@OVERLAP
def test_waiting_for_memory_is_one_lookup(engine: str, overlap: bool) -> None:
    """A3. The second request waits for the first's memory; its hit is what one lookup at admission finds."""
    requests = request_table([[1] * 40 + [2] * 40, [1] * 40 + [3] * 40], [30, 30])
    run = Engine(EngineConfig(engine=engine, overlap=overlap, kv_tokens=130), requests)
    log = drive(run, Arrivals([0, 1]), overlap=overlap, check=True)
    passes = [entry[2] for entry in log if entry[0] == "pass" and entry[2]]
    assert sum(batch[0] == "decode" and batch[1] == (0,) for batch in passes) >= 10
    assert run.cached_tokens == [0, 40]
    assert sorted(index for batch in passes for index in batch[2]) == [0, 1]


@BOTH
@OVERLAP
@pytest.mark.parametrize(("length", "page", "hit"), [(64, 1, 63), (64, 16, 48), (65, 16, 64), (1, 1, 0)])
def test_the_last_token_is_always_computed(engine: str, overlap: bool, length: int, page: int, hit: int) -> None:
    """A4. The same prompt twice: at most length − 1 tokens hit, in whole pages."""
    requests = request_table([list(range(length))] * 2, [3, 3])
    config = EngineConfig(engine=engine, overlap=overlap, kv_tokens=1024, page_tokens=page)
    run = Engine(config, requests)
    log = drive(run, Arrivals([0, 20]), overlap=overlap)
    assert run.cached_tokens == [0, hit]
    prefills = [entry[2] for entry in log if entry[0] == "pass" and entry[2] and entry[2][0] == "prefill"]
    assert [batch[3] for batch in prefills] == [length, length - hit]
    assert prefills[1][3] >= 1


@BOTH
def test_nothing_hits_behind_an_evicted_beginning(engine: str) -> None:
    """A6. Whatever was evicted, a hit is a prefix: the resident part of a prompt has no holes."""
    rng = random.Random(6)
    requests = request_table([[rng.randrange(2) for _ in range(48)] for _ in range(40)], [4] * 40)
    run = Engine(EngineConfig(engine=engine, overlap=False, kv_tokens=120), requests)
    for index in range(len(requests)):
        run.enqueue(index)
        while (batch := run.schedule()) is not None:
            run.complete(batch)
            run.memory.cache.check_integrity()  # a child never outlives its parent
    cache = run.memory.cache
    assert 0 < cache.resident <= 120
    cache.evict(120)
    assert cache.resident == 0
    assert [cache.match_tokens(index, 48) for index in range(40)] == [0] * 40


@BOTH
@OVERLAP
def test_a_request_above_the_capacity_ends_the_run_with_a_reason(engine: str, overlap: bool) -> None:
    """D17. Refused before it gets here; and if it did get here, the engine would say so instead of looping."""
    prompts = [[index] * 40 for index in range(9)] + [[9] * 900]
    requests = request_table(prompts, [12] * 10)
    limits = Limits(kv_tokens=800)
    refused = limits.refused(requests.prompt_tokens, requests.output_tokens)
    assert refused.tolist() == [False] * 9 + [True]
    run = Engine(EngineConfig(engine=engine, overlap=overlap, kv_tokens=800), requests)
    drive(run, Arrivals([0] * 9), overlap=overlap)
    assert run.cached_tokens[:9] == [0] * 9
    run.enqueue(9)
    with pytest.raises(InvariantError, match=r"No progress: nothing runs, 1 requests wait.*prompt=900"):
        run.schedule()

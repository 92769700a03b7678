"""The engine's own promises: what an arrival changes, how far it may be jumped ahead, what it refuses to do."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import Arrivals, drive, request_table, served

from sim.backend import Limits
from sim.engine import Engine, EngineConfig, Pass
from sim.errors import InvariantError, ScenarioError

BOTH = pytest.mark.parametrize("engine", ["0.5.9", "0.5.23"])


def engine_of(prompts: list[list[int]], outputs: list[int], **options: Any) -> Engine:
    return Engine(EngineConfig(**{"overlap": False, **options}), request_table(prompts, outputs))


def scheduled(engine: Engine) -> Pass:
    batch = engine.schedule()
    assert batch is not None
    return batch


def step(engine: Engine) -> Pass:
    batch = scheduled(engine)
    engine.complete(batch)
    return batch


@BOTH
def test_a_pass_says_what_a_latency_model_needs(engine: str) -> None:
    run = engine_of([list(range(10)), [*range(6), 9, 9]], [4, 4], engine=engine, kv_tokens=100)
    run.enqueue(0)
    first = step(run)
    assert (first.kind, first.members, first.admitted) == ("prefill", (0,), (0,))
    assert (first.new_tokens, first.attention_work, first.context_tokens) == (10, 10 * 5.0, 0)
    run.enqueue(1)
    second = step(run)
    assert (second.new_tokens, second.attention_work) == (2, 2 * (6 + 1.0))
    assert second.kv_used_tokens == 12
    third = step(run)
    assert (third.kind, third.members, third.admitted) == ("decode", (0, 1), ())
    assert (third.new_tokens, third.context_tokens, third.kv_used_tokens) == (2, 11 + 9, 14)


@BOTH
def test_results_come_in_batch_order(engine: str) -> None:
    run = engine_of([[1], [2], [3]], [1, 3, 3], engine=engine)
    for index in (2, 0, 1):
        run.enqueue(index)
    assert run.waiting_requests == (2, 0, 1)
    assert run.complete(scheduled(run)) == ([2, 0, 1], [0])
    assert run.complete(scheduled(run)) == ([], [])
    assert run.complete(scheduled(run)) == ([], [2, 1])
    assert run.schedule() is None


@pytest.mark.parametrize(("engine", "lingers"), [("0.5.9", True), ("0.5.23", False)])
def test_overlap_lets_a_finished_request_decode_once_more_or_not(engine: str, lingers: bool) -> None:
    """Two outputs: the prefill's and one decode pass's. 0.5.9 schedules a further pass before it knows."""
    run = engine_of([[1], [2]], [2, 4], engine=engine, overlap=True)
    run.enqueue(0)
    run.enqueue(1)
    prefill, decode = scheduled(run), scheduled(run)
    assert run.complete(prefill).first_tokens == [0, 1]
    after = scheduled(run)
    assert run.complete(decode).finished == [0]
    assert decode.members == (0, 1)
    assert after.members == ((0, 1) if lingers else (1,))


@BOTH
def test_the_horizon_ends_before_the_next_finish(engine: str) -> None:
    run = engine_of([[1], [2]], [10, 12], engine=engine)
    run.enqueue(0)
    run.enqueue(1)
    step(run)
    batch = scheduled(run)
    assert run.horizon(batch) == 8  # outputs so far 1, this pass makes 2, eight more make 10 with its own result
    batch = run.advance(batch, 8)
    assert run.horizon(batch) == 0
    assert batch.context_tokens == 2 * (1 + 9)
    assert run.complete(batch).finished == [0]


@BOTH
def test_the_horizon_ends_where_slots_run_out(engine: str) -> None:
    run = engine_of([[1] * 20], [60], engine=engine, kv_tokens=100)
    run.enqueue(0)
    step(run)
    assert run.horizon(scheduled(run)) == 58
    crowded = engine_of([[1] * 20, [2] * 30], [5, 60], engine=engine, kv_tokens=100)
    for index in (0, 1):
        crowded.enqueue(index)
        while (batch := crowded.schedule()) is not None and (index == 0 or batch.kind == "prefill"):
            crowded.complete(batch)
    # 24 tokens stay cached, 30 + 1 are the second's: 45 slots before anything must be evicted
    assert batch is not None
    assert crowded.memory.free == 45
    assert crowded.horizon(batch) == 45


@BOTH
def test_arrivals_matter_only_while_admission_is_open(engine: str) -> None:
    run = engine_of([[1] * 50, [2] * 50, [3]], [20, 20, 1], engine=engine, kv_tokens=100)
    run.enqueue(0)
    step(run)
    batch = scheduled(run)
    assert run.accepting
    run.complete(batch)
    run.enqueue(1)
    batch = scheduled(run)
    assert not run.accepting
    assert batch.kind == "decode"
    assert run.horizon(batch) > 0
    run.enqueue(2)
    assert run.horizon(batch) > 0


@BOTH
def test_long_prompts_are_cut_and_go_first(engine: str) -> None:
    run = engine_of([list(range(25)), [1, 1]], [2, 2], engine=engine, chunked_prefill_tokens=10)
    run.enqueue(0)
    run.enqueue(1)
    passes = [step(run) for _ in range(4)]
    assert [(each.members, each.new_tokens) for each in passes[:2]] == [((0,), 10), ((0,), 10)]
    assert [(each.members, each.new_tokens) for each in passes[2:]] == [((0, 1), 7), ((0, 1), 2)]
    assert [each.admitted for each in passes] == [(0,), (), (1,), ()]
    assert passes[1].attention_work == 10 * (10 + 5)
    assert run.cached_tokens == [0, 0]


@pytest.mark.parametrize(
    ("engine", "config", "tokens"),
    [
        ("0.5.9", {"kv_tokens": 100}, 38),  # 100 − 60 − 2
        ("0.5.23", {"kv_tokens": 100}, 38),
        ("0.5.9", {"kv_tokens": 112, "page_tokens": 16}, 50),  # 112 − 60 − 2
        ("0.5.23", {"kv_tokens": 112, "page_tokens": 16}, 31),  # 112 − 64 − 16 − 1
        ("0.5.23", {"context_tokens": 70}, 8),  # 70 − 1 − 60 − 1
        ("0.5.23", {}, 50),
    ],
)
def test_outputs_are_capped_by_what_can_fit(engine: str, config: dict[str, int], tokens: int) -> None:
    run = engine_of([[1] * 60], [50], engine=engine, **config)
    assert run.output_tokens(0) == tokens
    run.enqueue(0)
    passes = 0
    while (batch := run.schedule()) is not None:
        run.complete(batch)
        passes += 1
    assert passes == tokens  # the prefill's token and one a decode pass


@BOTH
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("page", [1, 4])
def test_whatever_is_not_refused_is_served(engine: str, overlap: bool, page: int) -> None:
    """Every request that `Limits` lets in, up to the brim, comes to an end: alone, and with another before it."""
    kv_tokens = 16
    limits = Limits(kv_tokens=kv_tokens, page_tokens=page)
    sizes = [(prompt, output) for prompt in range(1, 17) for output in range(1, 17)]
    prompts = [[index] * prompt for index, (prompt, _) in enumerate(sizes)]
    requests = request_table(prompts, [output for _, output in sizes])
    refused = limits.refused(requests.prompt_tokens, requests.output_tokens)
    config = EngineConfig(engine=engine, overlap=overlap, kv_tokens=kv_tokens, page_tokens=page)
    run = Engine(config, requests)
    left = [index for index in range(len(sizes)) if not refused[index]]
    assert len(left) == 105 if page == 1 else len(left) > 50
    finished: list[int] = []
    for index in left:
        run.enqueue(index)
    pending: Pass | None = None
    while len(finished) < len(left):
        batch = run.schedule()
        due, pending = (pending, batch) if overlap else (batch, None)
        if due is not None:
            finished += run.complete(due).finished
    assert sorted(finished) == left


@BOTH
def test_max_running_requests_is_a_limit(engine: str) -> None:
    run = engine_of([[index] for index in range(5)], [6] * 5, engine=engine, max_running_requests=2)
    log = drive(run, Arrivals([0] * 5), overlap=False, check=True)
    passes = [entry[2] for entry in log if entry[0] == "pass" and entry[2]]
    assert max(len(batch[1]) for batch in passes) == 2
    assert [batch[1] for batch in passes if batch[0] == "prefill"] == [(0, 1), (2, 3), (4,)]


@BOTH
def test_max_prefill_tokens_is_a_limit_where_nothing_is_chunked(engine: str) -> None:
    options = {"engine": engine, "chunked_prefill_tokens": None, "max_prefill_tokens": 25}
    run = engine_of([[index] * 10 for index in range(4)], [2] * 4, **options)
    log = drive(run, Arrivals([0] * 4), overlap=False)
    prefills = [entry[2][1] for entry in log if entry[0] == "pass" and entry[2] and entry[2][0] == "prefill"]
    assert prefills == [(0, 1), (2, 3)]


def test_results_must_be_completed_in_turn() -> None:
    run = engine_of([[1], [2]], [5, 5])
    run.enqueue(0)
    batch = scheduled(run)
    with pytest.raises(InvariantError, match="outstanding"):
        run.schedule()
    run.complete(batch)
    with pytest.raises(InvariantError, match="oldest"):
        run.complete(batch)


def test_a_jump_beyond_the_horizon_is_refused() -> None:
    run = engine_of([[1]], [5])
    run.enqueue(0)
    prefill = scheduled(run)
    assert run.horizon(prefill) == 0
    run.complete(prefill)
    batch = scheduled(run)
    with pytest.raises(InvariantError, match="advance"):
        run.advance(batch, run.horizon(batch) + 1)


def test_an_unknown_version_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ScenarioError, match=r"0\.5\.9, 0\.5\.23"):
        engine_of([[1]], [1], engine="0.5.24")


def test_an_unknown_policy_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ScenarioError, match='Did you mean "dfs-weight"'):
        engine_of([[1]], [1], schedule_policy="dfs-weigth")


@BOTH
@pytest.mark.parametrize("overlap", [False, True])
def test_an_unbounded_cache_finds_every_earlier_prefix(engine: str, overlap: bool) -> None:
    prompts = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 9], [7], [1, 2, 9, 9, 9]]
    config = EngineConfig(engine=engine, overlap=overlap)
    run = served(config, request_table(prompts, [2] * 5), [20 * turn for turn in range(5)])
    assert run.cached_tokens == [0, 3, 2, 0, 3]

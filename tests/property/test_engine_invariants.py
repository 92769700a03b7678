"""What holds of the engine whatever happens, for both versions' rules, with and without overlap, pages 1 and 16."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from engine_kit import Arrivals, drive, random_table, served
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim.backend import Limits
from sim.engine import Engine, EngineConfig, Pass
from sim.eviction import POLICIES
from sim.schedule_policy import SCHEDULE_POLICIES

LONGEST, OUTPUTS = 60, 40

SHARED: dict[str, Any] = {
    "overlap": st.booleans(),
    "kv_tokens": st.sampled_from([192, 256, 400, 1000, None]),
    "page_tokens": st.sampled_from([1, 16]),
    "eviction": st.sampled_from(sorted(POLICIES)),
    "chunked_prefill_tokens": st.sampled_from([16, 48, 200, None]),
    "max_prefill_tokens": st.sampled_from([40, 16384]),
    "max_running_requests": st.sampled_from([1, 3, None]),
    "schedule_conservativeness": st.sampled_from([0.02, 0.3, 1.0]),
    "ignore_eos": st.booleans(),
}
without_priorities = st.builds(
    EngineConfig,
    engine=st.sampled_from(["0.5.9", "0.5.23"]),
    schedule_policy=st.sampled_from(SCHEDULE_POLICIES),
    **SHARED,
)
with_priorities = st.builds(
    EngineConfig,
    engine=st.just("0.5.23"),
    schedule_policy=st.sampled_from(["fcfs", "lof"]),
    priority_scheduling=st.just(True),
    preemption_threshold=st.sampled_from([0, 10, None]),
    **SHARED,
)
configs = without_priorities | with_priorities


def priorities_of(seed: int, count: int) -> list[int]:
    """Small ones, so that many are equal and many are far apart."""
    rng = random.Random(seed)
    return [rng.choice([0, 1, 5, 11, 12, 30]) for _ in range(count)]


def workload(seed: int, count: int, config: EngineConfig) -> Any:
    """A table of requests that fit, and the turns they arrive at."""
    rng = random.Random(seed)
    requests = random_table(rng, count, LONGEST, OUTPUTS)
    limits = Limits(kv_tokens=config.kv_tokens, page_tokens=config.page_tokens)
    assert not limits.refused(requests.prompt_tokens, requests.output_tokens).any()
    turn, at = 0, []
    for _ in range(count):
        turn += rng.choice([0, 0, 0, 1, 5, 60])
        at.append(turn)
    return requests, at


@settings(max_examples=150, deadline=None)
@given(config=configs, seed=st.integers(0, 2**32), count=st.integers(1, 25))
def test_jumping_over_decode_passes_changes_nothing(config: EngineConfig, seed: int, count: int) -> None:
    requests, at = workload(seed, count, config)
    stepped, jumped = Engine(config, requests), Engine(config, requests)
    wishes = priorities_of(seed, count)
    log = drive(stepped, Arrivals(list(at), wishes), overlap=config.overlap, check=True)
    shown = drive(jumped, Arrivals(list(at), wishes), overlap=config.overlap, jump=True, check=True)
    known = iter(log)
    for entry in shown:  # a jump shows the first and the last pass of a run, everything else is the same
        assert any(entry == each for each in known), entry
    assert [each for each in log if each[0] == "result"] == [each for each in shown if each[0] == "result"]
    assert stepped.cached_tokens == jumped.cached_tokens
    assert stepped.num_retractions == jumped.num_retractions
    prompts = requests.prompt_tokens.tolist()
    assert all(
        cached is not None and 0 <= cached < prompt
        for cached, prompt in zip(stepped.cached_tokens, prompts, strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(config=configs, seed=st.integers(0, 2**32), count=st.integers(1, 20))
def test_an_unbounded_cache_never_hits_less_one_by_one(config: EngineConfig, seed: int, count: int) -> None:
    """Served one after another, an unbounded cache finds the longest prefix anyone had before, and eviction costs."""
    requests, _ = workload(seed, count, config)
    apart = [turn * 200 for turn in range(count)]
    bounded = served(config, requests, apart).cached_tokens
    unbounded = served(replace(config, kv_tokens=None), requests, apart).cached_tokens
    assert all((one or 0) <= (other or 0) for one, other in zip(bounded, unbounded, strict=True))


class EngineMachine(RuleBasedStateMachine):
    """Arrivals, passes and results in any order a driver may choose."""

    @initialize(config=configs, seed=st.integers(0, 2**32))
    def start(self, config: EngineConfig, seed: int) -> None:
        self.config = config
        self.requests, _ = workload(seed, 30, config)
        self.priorities = priorities_of(seed, 30)
        self.engine = Engine(config, self.requests)
        self.sent = 0
        self.pending: list[Pass] = []
        self.done: set[int] = set()
        self.must_complete = False

    @precondition(lambda self: self.sent < len(self.requests))
    @rule(count=st.integers(1, 5))
    def arrive(self, count: int) -> None:
        for index in range(self.sent, min(self.sent + count, len(self.requests))):
            self.engine.enqueue(index, self.priorities[index])
            self.sent = index + 1

    @precondition(lambda self: len(self.pending) <= self.config.overlap and not self.must_complete)
    @rule()
    def schedule(self) -> None:
        batch = self.engine.schedule()
        self.must_complete = batch is None and bool(self.pending)
        if batch is not None:
            assert batch.members
            assert len(set(batch.members)) == len(batch.members)
            assert not self.done & set(batch.members) or (self.config.overlap and self.config.engine == "0.5.9")
            self.pending.append(batch)

    @precondition(lambda self: len(self.pending) > self.config.overlap)
    @rule()
    def complete(self) -> None:
        self._finish(self.engine.complete(self.pending.pop(0)).finished)

    @precondition(lambda self: len(self.pending) == 1)
    @rule()
    def drain(self) -> None:
        self._finish(self.engine.complete(self.pending.pop()).finished)

    @precondition(lambda self: len(self.pending) == 1 and self.engine.horizon(self.pending[0]) > 0)
    @rule(data=st.data())
    def jump(self, data: st.DataObject) -> None:
        horizon = self.engine.horizon(self.pending[0])
        self.pending[0] = self.engine.advance(self.pending[0], data.draw(st.integers(1, horizon)))

    def _finish(self, finished: list[int]) -> None:
        self.must_complete = False
        assert not self.done & set(finished)
        self.done |= set(finished)

    @invariant()
    def everyone_is_somewhere(self) -> None:
        if not hasattr(self, "engine"):
            return
        waiting = set(self.engine.waiting_requests)
        running = {each.index for each in self.engine.running.members if not each.finished}
        inside = {index for batch in self.pending for index in batch.members} - self.done - waiting
        assert waiting | running | inside | self.done == set(range(self.sent)) - self._between_chunks()
        assert not waiting & running
        assert not waiting & self.done

    def _between_chunks(self) -> set[int]:
        """The chunked request, whose last piece is done and whose next is not scheduled."""
        known = set(self.engine.waiting_requests) | self.done
        known |= {each.index for each in self.engine.running.members}
        known |= {index for batch in self.pending for index in batch.members}
        missing = set(range(self.sent)) - known
        if self.pending or not missing:
            return set()
        assert self.engine._last is not None
        assert missing <= set(self.engine._last.members)
        return missing

    @invariant()
    def memory_is_accounted_for(self) -> None:
        if hasattr(self, "engine"):
            self.engine.check_integrity()
            assert 0 <= self.engine.memory.used <= self.engine.memory.capacity


EngineMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestEngineMachine = EngineMachine.TestCase


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("engine", ["0.5.9", "0.5.23"])
def test_equal_inputs_give_equal_runs(engine: str, overlap: bool) -> None:
    config = EngineConfig(engine=engine, overlap=overlap, kv_tokens=300, chunked_prefill_tokens=64)
    requests, at = workload(7, 30, config)
    logs = [drive(Engine(config, requests), Arrivals(list(at)), overlap=overlap) for _ in range(2)]
    assert logs[0] == logs[1]


@settings(max_examples=80, deadline=None)
@given(config=with_priorities, seed=st.integers(0, 2**32), count=st.integers(1, 25))
def test_priorities_lose_nobody_and_equal_ones_preempt_nobody(config: EngineConfig, seed: int, count: int) -> None:
    """Everything ends, however often it was sent back (CASES D18, D19)."""
    requests, at = workload(seed, count, config)
    unequal, equal = Engine(config, requests), Engine(replace(config, kv_tokens=None), requests)
    drive(unequal, Arrivals(list(at), priorities_of(seed, count)), overlap=config.overlap, check=True)
    assert not unequal.waiting
    drive(equal, Arrivals(at, [7] * count), overlap=config.overlap, check=True)
    assert sum(equal.num_retractions) == 0  # nor is anybody retracted for want of memory


@settings(max_examples=60, deadline=None)
@given(config=with_priorities, seed=st.integers(0, 2**32), count=st.integers(1, 25))
def test_equal_priorities_without_preemption_are_none(config: EngineConfig, seed: int, count: int) -> None:
    config = replace(config, preemption_threshold=None)
    requests, at = workload(seed, count, config)
    plain = drive(Engine(replace(config, priority_scheduling=False), requests), Arrivals(at), overlap=config.overlap)
    equal = drive(Engine(config, requests), Arrivals(list(at), [7] * count), overlap=config.overlap)
    assert plain == equal

"""Priority scheduling as SGLang 0.5.23 does it (CASES D18–D20), worked out by hand for a slot or two."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import request_table

from sim.engine import Engine, EngineConfig
from sim.errors import ScenarioError

OVERLAP = pytest.mark.parametrize("overlap", [False, True])


def engine(prompts: list[list[int]], outputs: list[int], **settings: Any) -> Engine:
    config = {"priority_scheduling": True, "preemption_threshold": 10, "max_running_requests": 1, "overlap": False}
    return Engine(EngineConfig(**{**config, **settings}), request_table(prompts, outputs))


class Loop:
    """The server's loop, one turn at a time; `passes` are (kind, members, new tokens)."""

    def __init__(self, server: Engine, *, overlap: bool = False) -> None:
        self.server, self.overlap = server, overlap
        self.pending: Any = None
        self.passes: list[tuple[str, tuple[int, ...], int] | None] = []
        self.done: list[int] = []

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            batch = self.server.schedule()
            due, self.pending = (self.pending, batch) if self.overlap else (batch, None)
            if due is not None:
                self.done += self.server.complete(due).finished
            self.passes.append(None if batch is None else (batch.kind, batch.members, batch.new_tokens))
            self.server.check_integrity()

    def finish(self, count: int) -> None:
        while len(self.done) < count:
            self.turn()
            assert len(self.passes) < 5000, "nobody finishes any more"


LOW, HIGH = [1] * 50, [2] * 20


@OVERLAP
@pytest.mark.parametrize(("ahead", "preempted"), [(0, 0), (1, 0), (10, 0), (11, 1)])
def test_one_slot_changes_hands_only_above_the_threshold(overlap: bool, ahead: int, preempted: int) -> None:
    server = engine([LOW, HIGH], [1000, 5], overlap=overlap)
    loop = Loop(server, overlap=overlap)
    server.enqueue(0, 7)
    loop.turn(5)
    server.enqueue(1, 7 + ahead)
    loop.turn()
    assert (loop.passes[-1] == ("prefill", (1,), 20)) == bool(preempted)  # in the next pass
    loop.finish(2)
    assert loop.done == ([1, 0] if preempted else [0, 1])
    assert server.num_retractions == [preempted, 0]


def test_without_preemption_the_more_important_waits() -> None:
    server = engine([LOW, HIGH], [30, 5], preemption_threshold=None)
    loop = Loop(server)
    server.enqueue(0, 0)
    loop.turn(5)
    server.enqueue(1, 1000)
    loop.finish(2)
    assert loop.done == [0, 1]
    assert server.num_retractions == [0, 0]


def test_a_preempted_request_is_prefilled_again_with_its_output_and_finds_its_prompt() -> None:
    server = engine([LOW, HIGH], [1000, 1])
    loop = Loop(server)
    server.enqueue(0, 0)
    loop.turn(5)  # prefill and four decode passes: five outputs
    server.enqueue(1, 11)
    loop.turn(3)
    assert loop.passes[4:] == [("decode", (0,), 1), ("prefill", (1,), 20), ("prefill", (0,), 5), ("decode", (0,), 1)]
    loop.finish(2)
    assert server.cached_tokens == [0, 0]  # of the first admission
    assert sum(1 for each in loop.passes if each and each[0] == "decode") == 4 + 994  # each output once


def test_with_overlap_the_output_that_is_under_way_is_lost() -> None:
    server = engine([LOW, HIGH], [1000, 1], overlap=True)
    loop = Loop(server, overlap=True)
    server.enqueue(0, 0)
    loop.turn(5)  # the fifth pass's result is still out
    server.enqueue(1, 11)
    loop.turn(2)
    assert loop.passes[5] == ("prefill", (1,), 20)
    loop.turn()
    assert ("prefill", (0,), 4) in loop.passes[6:]
    loop.finish(2)


@pytest.mark.parametrize("policy", ["fcfs", "lof"])
def test_the_larger_priority_goes_first_and_equal_ones_queue(policy: str) -> None:
    server = engine([[index] * 9 for index in range(1, 6)], [3] * 5, schedule_policy=policy, preemption_threshold=None)
    for index, priority in enumerate([1, 10, 5, 10, 0]):
        server.enqueue(index, priority)
    loop = Loop(server)
    loop.finish(5)
    assert loop.done == [1, 3, 2, 0, 4]


def test_the_least_important_who_queued_last_goes_first() -> None:
    server = engine([[index] * 9 for index in range(1, 6)], [100] * 5, max_running_requests=4)
    for index, priority in enumerate([5, 3, 3, 4]):
        server.enqueue(index, priority)
    loop = Loop(server)
    loop.turn(3)
    server.enqueue(4, 50)
    loop.turn()
    assert server.num_retractions == [0, 0, 1, 0, 0]
    assert server.waiting_requests == (2,)


def test_several_leave_where_one_does_not_bring_enough_memory() -> None:
    # Three running requests of 20 + 60 tokens reserve nearly all of 300: 3·20 are held, 3·59 or so still to come.
    # The newcomer may produce 150, so 150 − what is left must come from the reserves of those who leave.
    server = engine([[1] * 20, [2] * 20, [3] * 20, [4] * 20], [60, 60, 60, 150], max_running_requests=3, kv_tokens=300)
    for index in range(3):
        server.enqueue(index, index)
    loop = Loop(server)
    loop.turn(2)
    # free + evictable = 300 − 3·(20 + 1) and the reserves are 3·58: 63 are left, so 87 are missing, 58 for each.
    assert server.memory.obtainable - server.running.reserved(1.0) == 300 - 3 * 21 - 3 * 58
    server.enqueue(3, 20)
    loop.turn()
    assert loop.passes[-1] == ("prefill", (3,), 20)
    assert server.num_retractions == [1, 1, 0, 0]
    assert server.waiting_requests == (1, 0)  # in batch order, where the more important stands first
    loop.finish(4)


def test_one_who_was_preempted_for_nothing_is_not_lost() -> None:
    # Fatal in 0.5.9: the newcomer's prompt does not count before its first match, so somebody leaves for it, it is
    # refused all the same, and nothing is admitted in the pass. 100 slots: two prompts of 10, reserves of 30 and 5.
    server = engine([[1] * 10, [2] * 10, [3] * 60], [30, 5, 20], max_running_requests=2, kv_tokens=100)
    server.enqueue(0, 100)
    server.enqueue(1, 0)
    loop = Loop(server)
    loop.turn(2)
    server.enqueue(2, 50)
    loop.turn()
    assert loop.passes[-1] == ("decode", (0,), 1)
    assert server.num_retractions == [0, 1, 0]
    assert server.waiting_requests == (2, 1)
    loop.finish(3)
    assert sorted(loop.done) == [0, 1, 2]


def test_nobody_is_preempted_where_only_memory_is_short() -> None:
    # A free slot, no free memory: SGLang keeps the important one waiting, as it would without priorities.
    server = engine([[1] * 20, [2] * 20], [60, 60], max_running_requests=2, kv_tokens=120)
    server.enqueue(0, 0)
    loop = Loop(server)
    loop.turn(3)
    server.enqueue(1, 1000)
    loop.finish(2)
    assert loop.done == [0, 1]
    assert server.num_retractions == [0, 0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "0.5.9"}, 'engine: found "0.5.9" with priorities; expected "0.5.23". SGLang 0.5.9 can lose'),
        ({"schedule_policy": "lpm"}, 'schedule_policy: found "lpm" with priorities; expected fcfs or lof'),
    ],
)
def test_what_sglang_cannot_do_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        engine([LOW], [1], **settings)

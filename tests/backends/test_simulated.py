"""The simulated server's clock, with pass times worked out by hand from a round latency model.

A prefill of T new tokens takes 10 + T ms here, a decode pass of B requests 5 + B ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st
from market_kit import table

from backends.simulated import SimulatedBackend
from mechanism.prompts import Prompts
from sim.backend import Limits, Served
from sim.clock import Kind, after
from sim.engine import EngineConfig
from sim.latency import LatencyModel

MS = 1_000_000
ROUND = LatencyModel(
    weights_ms=10, token_ms=1, knee=1, attention_ms=0, decode_base_ms=5, decode_request_ms=1, context_ms=0,
    prefill_overhead_ms=0, decode_overhead_ms=0,
)  # fmt: skip


class Stepping(SimulatedBackend):
    """The same server without jumps: every decode pass is planned and waited for singly."""

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        super().start(env, on_event)
        self._engine.horizon = lambda _: 0  # type: ignore[method-assign]


def serve(
    prompts: Sequence[Sequence[int]],
    outputs: Sequence[int],
    submit_ms: Sequence[float],
    *,
    server: type[SimulatedBackend] = SimulatedBackend,
    latency: LatencyModel = ROUND,
    blocking: bool = False,
    priorities: Sequence[int] = (),
    **config: object,
) -> tuple[list[Served], SimulatedBackend]:
    """Submit each request at its own time; returns what became of them, by index."""
    settings_ = EngineConfig(**{"engine": "0.5.9", "overlap": False, "kv_tokens": 1000, **config})  # type: ignore[arg-type]
    requests = table([0] * len(prompts), [1.0] * len(prompts), prompts=Prompts.from_lists(prompts))
    requests = type(requests)(
        **{name: getattr(requests, name) for name in requests.__dataclass_fields__}
        | {"output_tokens": np.array(outputs)}
    )
    backend = server(settings_, requests, latency, Limits(kv_tokens=1000), blocking=blocking)
    env, served = simpy.Environment(), dict[int, Served]()  # type: ignore[arg-type]
    backend.start(env, lambda event: served.update({event.index: event}))

    def client(index: int, at_ms: float):  # type: ignore[no-untyped-def]
        yield after(env, round(at_ms * MS), Kind.DISPATCH)
        if priorities:
            backend.prioritise([index], np.array([priorities[index]]))
        backend.submit([index])

    for index, at_ms in enumerate(submit_ms):
        env.process(client(index, at_ms))
    env.run()
    return [served[index] for index in range(len(prompts))], backend


def test_one_request_takes_a_prefill_and_output_minus_one_decode_passes() -> None:
    (only,), backend = serve([[1] * 20], [4], [3])
    assert only.admitted_ns == 3 * MS
    assert only.first_token_ns == (3 + 30) * MS
    assert only.finish_ns == (33 + 3 * 6) * MS
    assert [(step[2], step[0], step[1], step[4]) for step in backend.engine_steps] == [
        ("prefill", 3 * MS, 30 * MS, 20),
        ("decode", 33 * MS, 18 * MS, 3),
    ]


def test_the_second_of_two_equal_prompts_computes_one_token_and_still_takes_time() -> None:
    # CASES A4: 64 tokens again: 63 hit, one is computed, 11 ms.
    (_, second), _ = serve([[7] * 64, [7] * 64], [1, 1], [0, 100])
    assert second.cached_tokens == 63
    assert second.first_token_ns == (100 + 11) * MS


def test_an_arrival_cuts_a_run_of_decode_passes_at_the_next_boundary() -> None:
    # First: prefill to 30, then decode passes of 6 ms: 36, 42, 48, … An arrival at 38 is prefilled from 42 on
    # (10 + 5 = 15 ms), then both decode at 7 ms a pass: the second needs one pass (to 64), the first seven in all.
    (first, second), _ = serve([[1] * 20, [2] * 5], [10, 2], [0, 38])
    assert second.admitted_ns == 42 * MS
    assert second.first_token_ns == 57 * MS
    assert second.finish_ns == 64 * MS
    assert first.finish_ns == (64 + 6 * 6) * MS


def test_with_overlap_a_plan_is_made_one_pass_ahead() -> None:
    # Prefill 0–30. At 0 nothing else can be planned; at 30 the first decode pass is, so it runs 30–36, and the next
    # pass is planned at 30 as well: an arrival at 31 finds passes to 42 fixed and is prefilled 42–57.
    (first, second), _ = serve([[1] * 20, [2] * 5], [10, 1], [0, 31], overlap=True)
    assert first.first_token_ns == 30 * MS
    assert second.first_token_ns == 57 * MS


def test_requests_submitted_at_one_instant_meet_in_one_pass() -> None:
    both, backend = serve([[1] * 20, [2] * 10], [1, 1], [5, 5])
    assert [one.first_token_ns for one in both] == [45 * MS, 45 * MS]
    assert len(backend.engine_steps) == 1


REALISTIC = LatencyModel(
    weights_ms=27.6943, token_ms=0.09602, knee=2.3821, attention_ms=3.452e-06, decode_base_ms=24.6479,
    decode_request_ms=0.02664, context_ms=0, prefill_overhead_ms=1, decode_overhead_ms=1,
)  # fmt: skip


@given(
    lengths=st.lists(st.tuples(st.integers(1, 120), st.integers(1, 60), st.integers(0, 900)), min_size=1, max_size=10),
    overlap=st.booleans(),
    engine=st.sampled_from(["0.5.9", "0.5.23"]),
    page=st.sampled_from([1, 16]),
)
@settings(max_examples=60, deadline=None)
def test_jumping_over_decode_passes_changes_nothing(
    lengths: list[tuple[int, int, int]], overlap: bool, engine: str, page: int
) -> None:
    # Times may differ by the rounding of one closed form against many single passes: 1 ns a pass.
    prompts = [[index % 3] * size for index, (size, _, _) in enumerate(lengths)]
    arguments = (prompts, [out for _, out, _ in lengths], [at for _, _, at in lengths])
    config = {"overlap": overlap, "engine": engine, "page_tokens": page, "kv_tokens": 608, "latency": REALISTIC}
    jumped, _ = serve(*arguments, **config)  # type: ignore[arg-type]
    stepped, _ = serve(*arguments, server=Stepping, **config)  # type: ignore[arg-type]
    for one, other in zip(jumped, stepped, strict=True):
        assert (one.cached_tokens, one.num_retractions, one.status) == (
            other.cached_tokens, other.num_retractions, other.status,
        )  # fmt: skip
        for mine, theirs in [(one.first_token_ns, other.first_token_ns), (one.finish_ns, other.finish_ns)]:
            assert mine == pytest.approx(theirs, abs=1000)


def test_a_more_important_arrival_cuts_a_run_of_decode_passes_and_takes_the_place() -> None:
    # First: prefill to 30, then decode passes of 6 ms. The arrival at 38 takes the only place from 42 on, 10 + 5 ms,
    # and is done; the first is prefilled again with three outputs, its prompt is cached: 10 + 3 ms for its fourth.
    (first, second), _ = serve(
        [[1] * 20, [2] * 5], [10, 1], [0, 38], priorities=[0, 11], engine="0.5.23", max_running_requests=1,
        priority_scheduling=True, preemption_threshold=10,
    )  # fmt: skip
    assert (second.first_token_ns, second.num_retractions) == (57 * MS, 0)
    assert (first.first_token_ns, first.num_retractions, first.cached_tokens) == (30 * MS, 1, 0)
    assert first.finish_ns == (57 + 13 + 6 * 6) * MS


@given(
    lengths=st.lists(st.tuples(st.integers(1, 120), st.integers(1, 60), st.integers(0, 900)), min_size=1, max_size=10),
    priorities=st.lists(st.integers(0, 30), min_size=10, max_size=10),
    overlap=st.booleans(),
    threshold=st.sampled_from([0, 10, None]),
)
@settings(max_examples=30, deadline=None)
def test_jumping_changes_nothing_with_priorities(
    lengths: list[tuple[int, int, int]], priorities: list[int], overlap: bool, threshold: int | None
) -> None:
    prompts = [[index % 3] * size for index, (size, _, _) in enumerate(lengths)]
    arguments = (prompts, [out for _, out, _ in lengths], [at for _, _, at in lengths])
    config = {"overlap": overlap, "engine": "0.5.23", "kv_tokens": 608, "max_running_requests": 2,
              "priority_scheduling": True, "preemption_threshold": threshold}  # fmt: skip
    jumped, _ = serve(*arguments, latency=REALISTIC, priorities=priorities, **config)
    stepped, _ = serve(*arguments, latency=REALISTIC, priorities=priorities, server=Stepping, **config)
    for one, other in zip(jumped, stepped, strict=True):
        assert (one.cached_tokens, one.num_retractions) == (other.cached_tokens, other.num_retractions)
        for mine, theirs in [(one.first_token_ns, other.first_token_ns), (one.finish_ns, other.finish_ns)]:
            assert mine == pytest.approx(theirs, abs=1000)


def test_the_way_to_the_client_delays_what_it_sees_and_holds_no_pass() -> None:
    far = replace(ROUND, request_overhead_ms=4)
    # Two prompts of 3 tokens one after another in a queue: passes of 10 + 3 ms each, the way is paid once a request.
    near, _ = serve([[1, 2, 3], [4, 5, 6]], [1, 1], [0, 1])
    away, _ = serve([[1, 2, 3], [4, 5, 6]], [1, 1], [0, 1], latency=far)
    assert [each.first_token_ns for each in near] == [13 * MS, 26 * MS]
    assert [each.first_token_ns for each in away] == [17 * MS, 30 * MS]
    assert [each.finish_ns for each in away] == [17 * MS, 30 * MS]


def test_answers_of_one_pass_reach_their_clients_one_after_another() -> None:
    far = replace(ROUND, request_overhead_ms=4, request_gap_ms=2)
    # Three prompts of 3 tokens queued at once: one pass of 10 + 9 ms; the way is 4 ms, then every 2 ms.
    away, _ = serve([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [1, 1, 1], [0, 0, 0], latency=far)
    assert [each.first_token_ns for each in away] == [23 * MS, 25 * MS, 27 * MS]
    assert [each.finish_ns for each in away] == [23 * MS, 25 * MS, 27 * MS]
    assert [each.computed_ns for each in away] == [19 * MS] * 3


def test_a_host_that_computes_the_passes_itself_hands_out_results_one_pass_late() -> None:
    # The prompt's pass lasts 13 ms, the decode after it 6 ms. An accelerator that works by itself has the first token
    # at 13 ms; a host that computes looks at it only when the decode is done, at 19 ms. Where no pass follows, at once.
    prompts, outputs, at = [[1, 2, 3], [4, 5, 6]], [2, 1], [0, 100]
    free, _ = serve(prompts, outputs, at, engine="0.5.23", overlap=True)
    busy, backend = serve(prompts, outputs, at, blocking=True, engine="0.5.23", overlap=True)
    assert [each.first_token_ns for each in free] == [13 * MS, 113 * MS]
    assert [each.first_token_ns for each in busy] == [19 * MS, 113 * MS]
    assert free[0].finish_ns == busy[0].finish_ns == 19 * MS
    assert [(step[2], step[0], step[1]) for step in backend.engine_steps] == [
        ("prefill", 0, 13 * MS),
        ("decode", 13 * MS, 6 * MS),
        ("prefill", 100 * MS, 13 * MS),
    ]

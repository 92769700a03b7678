"""The orders SGLang itself can impose, by hand, and the refresh that keeps waiting prefixes recent."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import request_table

from sim.engine import Engine, EngineConfig


def admitted_order(prompts: list[list[int]], warm: int, outputs: list[int] | None = None, **options: Any) -> list[int]:
    """Serve the first `warm` requests one by one, queue the rest, and see in which order one pass takes them."""
    config = EngineConfig(overlap=False, kv_tokens=4000, **options)
    run = Engine(config, request_table(prompts, outputs or [1] * len(prompts)))
    for index in range(len(prompts)):
        run.enqueue(index)
        while index < warm and (batch := run.schedule()) is not None:
            run.complete(batch)
    batch = run.schedule()
    assert batch is not None
    assert not run.waiting
    return list(batch.members)


BOTH = pytest.mark.parametrize("engine", ["0.5.9", "0.5.23"])


@BOTH
def test_fcfs_keeps_the_order_of_arrival(engine: str) -> None:
    assert admitted_order([[1], [2], [1, 1]], 1, engine=engine) == [1, 2]


@BOTH
def test_lof_takes_the_longest_output_first_and_is_stable(engine: str) -> None:
    outputs = [3, 9, 3, 9]
    assert admitted_order([[1], [2], [3], [4]], 0, outputs, engine=engine, schedule_policy="lof") == [1, 3, 0, 2]


@BOTH
def test_lpm_takes_the_longest_cached_prefix_first(engine: str) -> None:
    prompts = [[1] * 50 + [2] * 50, [9] * 20, [1] * 50 + [3] * 20, [1] * 50 + [2] * 40, [1] * 50 + [4] * 20]
    assert admitted_order(prompts, 1, engine=engine, schedule_policy="lpm") == [3, 2, 4, 1]


@BOTH
def test_lpm_lets_one_of_several_with_the_same_new_prefix_go_ahead(engine: str) -> None:
    """2 shares 40 uncached tokens with 1 and waits for it; 3 shares only 20 and does not; all are uncached."""
    prompts = [[8], [1] * 40 + [2], [1] * 40 + [3], [1] * 20 + [4] * 30]
    assert admitted_order(prompts, 1, engine=engine, schedule_policy="lpm") == [1, 3, 2]


@BOTH
@pytest.mark.parametrize(("waiting", "first"), [(128, 128), (129, 1)])
def test_lpm_is_fcfs_above_128_waiting_requests(engine: str, waiting: int, first: int) -> None:
    prompts = [[1] * 40] + [[2, index] for index in range(waiting - 1)] + [[1] * 40 + [3]]
    assert admitted_order(prompts, 1, engine=engine, schedule_policy="lpm")[0] == first


@BOTH
def test_dfs_weight_visits_the_heavier_subtree_first(engine: str) -> None:
    """Cached: a trunk with branches A and B. Waiting: one below A, two below B, one at the trunk itself."""
    trunk = [1] * 10
    a, b = [*trunk, *[2] * 10], [*trunk, *[3] * 10]
    prompts = [a, b, [*a, 5], [*trunk, 7], [*b, 5], [*b, 6], [9]]
    order = admitted_order(prompts, 2, engine=engine, schedule_policy="dfs-weight")
    assert order == [4, 5, 2, 3, 6]


@BOTH
def test_dfs_weight_breaks_ties_by_who_came_into_the_cache_first(engine: str) -> None:
    prompts = [[2] * 10, [1] * 10, [*[1] * 10, 5], [*[2] * 10, 5]]
    assert admitted_order(prompts, 2, engine=engine, schedule_policy="dfs-weight") == [3, 2]


@pytest.mark.parametrize(("attempts", "gone"), [(31, 0), (32, 1), (33, 0), (64, 1)])
def test_every_32nd_admission_attempt_refreshes_who_waits(attempts: int, gone: int) -> None:
    """0 and 1 are cached in this order; a big request evicts one of them while the last in the queue wants 0."""
    other = [[100 + index] for index in range(attempts - 2)]
    prompts = [*other, [1] * 10, [2] * 10, [3] * 185, [4] * 60, [*[1] * 10, 5]]
    run = Engine(
        EngineConfig(engine="0.5.23", overlap=False, kv_tokens=200), request_table(prompts, [1] * len(prompts))
    )
    for index in range(attempts):
        run.enqueue(index)
        while (batch := run.schedule()) is not None:
            run.complete(batch)
    for index in range(attempts, attempts + 3):
        run.enqueue(index)
    batch = run.schedule()
    assert batch is not None
    assert batch.members == (attempts,)
    assert run.waiting_requests == (attempts + 1, attempts + 2)
    cache = run.memory.cache
    found = [cache.match_tokens(attempts - 2, 10), cache.match_tokens(attempts - 1, 10)]
    assert found == ([0, 10] if gone == 0 else [10, 0])

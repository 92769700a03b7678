from functools import partial
from typing import Any

import numpy as np
import pytest

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.workloads.trees import Trees


def draw(seed: int = 0, **parameters: Any) -> Demand:
    return Trees(**parameters).generate(partial(stream, seed, 0))


def rows(demand: Demand) -> list[IntArray]:
    return np.split(demand.prompts.symbols, demand.prompts.indptr[1:-1])


def test_the_defaults_are_the_papers_short_trees_and_fit_the_cache() -> None:
    demand = draw()
    lengths = demand.prompts.num_tokens
    assert len(demand.prompts) == 1024
    assert set(((lengths - 40) / 20).tolist()) == set(range(7))
    distinct = {tuple(row[:k].tolist()) for row in rows(demand) for k in range(len(row), 0, -20)}
    assert sum(20 for _ in distinct) < 23_000
    assert not demand.cluster.any()


def test_every_node_is_asked_once_when_no_number_is_given() -> None:
    demand = draw(num_requests=None, arity=2, depth=3, root_tokens=5, step_tokens=2, num_trees=3)
    prompts = [tuple(row.tolist()) for row in rows(demand)]
    assert len(set(prompts)) == len(prompts) == 3 * 15
    assert np.bincount(demand.cluster).tolist() == [15, 15, 15]
    depths = np.bincount([(len(p) - 5) // 2 for p in prompts])
    assert depths.tolist() == [3, 6, 12, 24]


def test_a_prompt_extends_its_parents_and_siblings_part_at_once() -> None:
    demand = draw(num_requests=None, arity=3, depth=3, root_tokens=4, step_tokens=2, num_trees=2)
    prompts = {tuple(row.tolist()) for row in rows(demand)}
    for prompt in prompts:
        if len(prompt) > 4:
            assert prompt[:-2] in prompts
            siblings = [p for p in prompts if len(p) == len(prompt) and p[:-2] == prompt[:-2]]
            assert len(siblings) == 3
            assert len({p[-2] for p in siblings}) == 3
    assert len({p[0] for p in prompts}) == 2


@pytest.mark.parametrize(("n", "often"), [(5, {0, 1}), (15, {1}), (40, {2, 3})])
def test_nodes_are_drawn_without_replacement_after_every_whole_round(n: int, often: set[int]) -> None:
    demand = draw(num_requests=n, arity=2, depth=3, root_tokens=1, step_tokens=1)
    prompts = [tuple(row.tolist()) for row in rows(demand)]
    counts = {prompts.count(p) for p in prompts} | ({0} if len(set(prompts)) < 15 else set())
    assert counts == often
    assert len(prompts) == n


def test_lengths_are_drawn_per_root_and_per_node() -> None:
    demand = draw(num_requests=None, arity=2, depth=1, root_tokens=(3, 9), step_tokens=(1, 4), num_trees=200)
    lengths = demand.prompts.num_tokens.reshape(-1)
    roots = np.array([lengths[demand.cluster == tree].min() for tree in range(200)])
    assert set(roots.tolist()) == set(range(3, 10))
    assert set((lengths - roots[demand.cluster]).tolist()) == set(range(5))


def test_accidents_touch_only_the_roots() -> None:
    parameters = {"num_requests": None, "depth": 2, "root_tokens": 10, "num_trees": 30}
    plain, real = draw(**parameters), draw(**parameters, accidental_sharing=True)
    different = np.flatnonzero(plain.prompts.symbols != real.prompts.symbols)
    row = np.searchsorted(plain.prompts.indptr, different, side="right") - 1
    assert set((different - plain.prompts.indptr[row]).tolist()) == set(range(8))


def test_a_tree_of_one_branch_and_a_tree_of_one_node() -> None:
    path = draw(num_requests=None, arity=1, depth=4, root_tokens=2, step_tokens=1)
    assert sorted(path.prompts.num_tokens.tolist()) == [2, 3, 4, 5, 6]
    assert draw(num_requests=3, arity=5, depth=0, root_tokens=2).prompts.num_tokens.tolist() == [2, 2, 2]


def test_the_order_is_random() -> None:
    demand = draw(num_requests=None, num_trees=10, depth=3)
    assert (np.diff(demand.cluster) == 0).mean() < 0.2


@pytest.mark.parametrize("parameters", [{"depth": 20}, {"depth": 65, "arity": 1}, {"num_trees": 10_000}])
def test_more_nodes_than_fit_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ScenarioError, match=r"depth: found .* expected at most 10,000,000 nodes"):
        Trees(**parameters)  # type: ignore[arg-type]

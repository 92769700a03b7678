import numpy as np
import pytest
from scipy.stats import chisquare

from mechanism.prompts import Prompts
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.users import KINDS, FromTrace, PerCluster, PerRequest, RandomUsers


def demand(cluster: list[int], user: tuple[str, ...] | None = None) -> Demand:
    n = len(cluster)
    prompts = Prompts.from_lists([[1]] * n)
    return Demand(prompts=prompts, output_tokens=np.ones(n, dtype=np.int64), cluster=np.array(cluster), user=user)


def test_every_request_is_a_user_named_by_its_id() -> None:
    index, names = PerRequest().owners(demand([0, 0, 1]), ("a", "b", "c"), stream(0, 0, "users"))
    assert (index.tolist(), names) == ([0, 1, 2], ("a", "b", "c"))


def test_a_cluster_is_a_user_and_so_is_a_singleton() -> None:
    index, names = PerCluster().owners(demand([2, 0, 2, 5]), ("a", "b", "c", "d"), stream(0, 0, "users"))
    assert (index.tolist(), names) == ([1, 0, 1, 2], ("cluster-0", "cluster-2", "cluster-5"))


def test_random_owners_are_uniform() -> None:
    index, names = RandomUsers(count=64).owners(demand([0] * 64_000), (), stream(0, 0, "users"))
    assert names[:2] == ("user-0", "user-1")
    assert len(names) == 64
    assert chisquare(np.bincount(index, minlength=64)).pvalue > 0.01


def test_recorded_owners_are_numbered_as_they_appear() -> None:
    index, names = FromTrace().owners(demand([0, 1, 2], ("z", "a", "z")), (), stream(0, 0, "users"))
    assert (index.tolist(), names) == ([0, 1, 0], ("z", "a"))
    with pytest.raises(ScenarioError, match="a workload that records users"):
        FromTrace().owners(demand([0]), (), stream(0, 0, "users"))


def test_kinds_are_those_of_the_specification() -> None:
    assert set(KINDS) == {"per-request", "per-cluster", "random", "from-trace"}

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.workloads._outputs import UniformTokens
from sim.workloads.stars import Stars


def draw(seed: int = 0, **parameters: Any) -> Demand:
    return Stars(**parameters).generate(partial(stream, seed, 0))


def rows(demand: Demand) -> list[IntArray]:
    return np.split(demand.prompts.symbols, demand.prompts.indptr[1:-1])


def common(a: IntArray, b: IntArray) -> int:
    k = min(len(a), len(b))
    different = np.flatnonzero(a[:k] != b[:k])
    return int(different[0]) if len(different) else k


def test_the_defaults_are_the_papers_mixshare_50() -> None:
    demand = draw()
    sizes = np.bincount(demand.cluster)
    assert len(demand.prompts) == 1024
    assert sizes.tolist() == [16] * 32 + [1] * 512
    assert (demand.output_tokens == 1).all()
    lengths = demand.prompts.num_tokens
    clustered = demand.cluster < 32
    assert set(lengths[~clustered].tolist()) == {950}
    assert lengths[clustered].min() == 930
    assert lengths[clustered].max() == 980
    assert demand.prompts.symbols.dtype == np.int32


def test_without_accidents_a_cluster_shares_its_prefix_and_nothing_else() -> None:
    demand = draw(
        num_requests=64, prefix_tokens=20, question_tokens=(3, 5), singleton_tokens=9, accidental_sharing=False
    )
    prompts = rows(demand)
    for i, a in enumerate(prompts):
        for j, b in enumerate(prompts[:i]):
            assert common(a, b) == (20 if demand.cluster[i] == demand.cluster[j] else 0)


def test_private_tokens_occur_once() -> None:
    demand = draw(num_requests=64, accidental_sharing=False, sharing=0.0)
    assert len(np.unique(demand.prompts.symbols)) == len(demand.prompts.symbols)


def test_accidents_are_within_the_first_eight_tokens_of_singletons_and_questions() -> None:
    plain, real = draw(accidental_sharing=False), draw()
    different = np.flatnonzero(plain.prompts.symbols != real.prompts.symbols)
    row = np.searchsorted(plain.prompts.indptr, different, side="right") - 1
    offset = different - plain.prompts.indptr[row]
    text = np.where(plain.cluster[row] < 32, offset - 900, offset)
    assert set(text.tolist()) == set(range(8))
    assert real.prompts.symbols[different].max() < 300
    np.testing.assert_array_equal(plain.prompts.indptr, real.prompts.indptr)


def test_accidents_follow_zipf_at_every_level() -> None:
    demand = draw(num_requests=20_000, sharing=0.0, singleton_tokens=10)
    tokens = demand.prompts.symbols.reshape(20_000, 10)
    for level, exponent in enumerate([1.6, 1.5, 1.4, 1.3, 1.3, 1.3, 1.3, 1.3]):
        weights = np.arange(1, 301) ** -exponent
        share = weights / weights.sum()
        found = np.bincount(tokens[:, level], minlength=300) / 20_000
        # five standard errors of a binomial share
        assert (np.abs(found - share) < 5 * np.sqrt(share / 20_000)).all()


def test_the_last_cluster_may_be_smaller_and_sharing_is_a_share_of_requests() -> None:
    demand = draw(num_requests=50, sharing=0.5, cluster_size=8)
    assert np.bincount(demand.cluster).tolist() == [8, 8, 8, 1] + [1] * 25


@pytest.mark.parametrize(("sharing", "clusters"), [(0.0, 64), (1.0, 4)])
def test_all_or_nothing_shared(sharing: float, clusters: int) -> None:
    assert len(np.unique(draw(num_requests=64, sharing=sharing).cluster)) == clusters


def test_the_order_is_random() -> None:
    cluster = draw().cluster
    neighbours = (cluster[1:] == cluster[:-1]).mean()
    assert neighbours < 0.03  # 0.5 · 15/1023 in a random order, 0.47 in cluster order
    assert (draw(seed=1).cluster != cluster).any()


def test_sweeping_the_sharing_keeps_questions_and_outputs() -> None:
    outputs = UniformTokens(low=1, high=50)
    few, many = draw(sharing=0.25, output_tokens=outputs), draw(sharing=0.75, output_tokens=outputs)
    np.testing.assert_array_equal(few.output_tokens, many.output_tokens)
    both = (few.cluster < 16) & (many.cluster < 48)
    np.testing.assert_array_equal(few.prompts.num_tokens[both], many.prompts.num_tokens[both])


def test_prefixes_of_any_length_are_drawn_once_a_cluster() -> None:
    demand = draw(num_requests=256, sharing=1.0, prefix_tokens=(10, 60), question_tokens=1, accidental_sharing=False)
    prefix = demand.prompts.num_tokens - 1
    for cluster in range(16):
        assert len(set(prefix[demand.cluster == cluster].tolist())) == 1
    assert len(set(prefix.tolist())) > 5


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(1, 40), sharing=st.floats(0, 1), size=st.integers(1, 9), prefix=st.integers(1, 12),
    question=st.integers(1, 12), single=st.integers(1, 12), accidents=st.booleans(),
)  # fmt: skip
def test_every_setting_gives_whole_requests(
    n: int, sharing: float, size: int, prefix: int, question: int, single: int, accidents: bool
) -> None:
    demand = draw(
        num_requests=n, sharing=sharing, cluster_size=size, prefix_tokens=prefix, question_tokens=question,
        singleton_tokens=single, accidental_sharing=accidents,
    )  # fmt: skip
    assert len(demand.prompts) == n
    prompts = rows(demand)
    for i, a in enumerate(prompts):
        for j in range(i):
            if demand.cluster[i] == demand.cluster[j]:
                assert common(a, prompts[j]) >= prefix


def test_an_upside_down_range_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"prefix_tokens: found \[5, 4\]; expected \[low, high\] with low ≤ high"):
        Stars(prefix_tokens=(5, 4))

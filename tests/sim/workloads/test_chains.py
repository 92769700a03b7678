from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.requests import Demand
from sim.rng import stream
from sim.workloads.chains import Chains


def draw(seed: int = 0, **parameters: Any) -> Demand:
    return Chains(**parameters).generate(partial(stream, seed, 0))


def rows(demand: Demand) -> list[IntArray]:
    return np.split(demand.prompts.symbols, demand.prompts.indptr[1:-1])


def turns(demand: Demand) -> IntArray:
    assert demand.turn is not None
    return demand.turn


def test_the_defaults_are_the_papers_chains() -> None:
    demand = draw()
    lengths = demand.prompts.num_tokens
    np.testing.assert_array_equal(lengths, 1200 + 200 + 270 * (turns(demand) + 1))
    # E[turn] of a request in chains of 5 … 15 turns: (E[T²] + E[T]) / 2E[T] = 6, so prompts of 3,020 tokens
    assert lengths.mean() == pytest.approx(3020, abs=60)
    per_chain = np.bincount(demand.cluster)[:-1]
    assert (per_chain.min(), per_chain.max()) == (5, 15)


def test_a_turn_repeats_the_turns_before_it_and_chains_share_the_system_prompt() -> None:
    demand = draw(
        num_requests=40, turns=4, system_tokens=6, issue_tokens=5, turn_tokens=(1, 3), accidental_sharing=False
    )
    prompts = rows(demand)
    turn = turns(demand)
    for i, a in enumerate(prompts):
        for j, b in enumerate(prompts):
            if demand.cluster[i] != demand.cluster[j]:
                assert a[:6].tolist() == b[:6].tolist()
                assert not set(a[6:].tolist()) & set(b[6:].tolist())
            elif turn[i] < turn[j]:
                assert b[: len(a)].tolist() == a.tolist()
                assert len(a) < len(b)


def test_chains_are_interleaved_and_keep_the_order_of_their_turns() -> None:
    demand = draw()
    turn = turns(demand)
    for chain in np.unique(demand.cluster):
        mine = turn[demand.cluster == chain]
        assert mine.tolist() == list(range(len(mine)))
    assert (np.diff(demand.cluster) == 0).mean() < 0.03
    assert demand.session is not None
    assert demand.session[0] == f"chain-{demand.cluster[0]}"


def test_the_number_of_turns_is_uniform_within_the_spread() -> None:
    demand = draw(num_requests=60_000, turns=6, turns_spread=0.5, system_tokens=0, issue_tokens=1, turn_tokens=1)
    counts = np.bincount(np.bincount(demand.cluster)[:-1], minlength=10)
    assert counts[:3].sum() == counts[10:].sum() == 0
    assert stats.chisquare(counts[3:10]).pvalue > 0.01


@pytest.mark.parametrize(("turns_spread", "sizes"), [(0.0, {3}), (1.0, {1, 2, 3, 4, 5, 6})])
def test_the_ends_of_the_spread(turns_spread: float, sizes: set[int]) -> None:
    demand = draw(num_requests=3000, turns=3, turns_spread=turns_spread, system_tokens=1, issue_tokens=1, turn_tokens=1)
    assert set(np.bincount(demand.cluster)[:-1].tolist()) == sizes


def test_accidents_are_within_the_first_eight_tokens_of_the_issue() -> None:
    plain, real = draw(accidental_sharing=False), draw()
    different = np.flatnonzero(plain.prompts.symbols != real.prompts.symbols)
    row = np.searchsorted(plain.prompts.indptr, different, side="right") - 1
    assert set((different - plain.prompts.indptr[row]).tolist()) == set(range(1200, 1208))
    prompts = rows(real)
    first = [prompts[row][1200] for row in np.flatnonzero(turns(real) == 0)]
    weights = np.arange(1, 301) ** -2.2
    assert np.mean(np.array(first) == 0) == pytest.approx(1 / weights.sum(), abs=0.15)


def test_one_request_and_no_system_prompt() -> None:
    demand = draw(num_requests=1, system_tokens=0, issue_tokens=2, turn_tokens=3)
    assert demand.prompts.num_tokens.tolist() == [5]
    assert (
        draw(num_requests=5, system_tokens=0, issue_tokens=1, turn_tokens=1, turns=1, turns_spread=0.0).cluster.max()
        == 4
    )


def test_an_upside_down_range_is_refused() -> None:
    with pytest.raises(ScenarioError, match="turn_tokens"):
        Chains(turn_tokens=(5, 4))

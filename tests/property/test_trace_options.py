"""What the options of traces do to prompts of blocks, against the obvious way."""

import itertools
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import tokens_of
from trace_kit import prompts_of

from mechanism.prompts import Prompts
from sim.requests import Demand
from sim.workloads.azure import Azure

Rows = list[tuple[int, int, list[tuple[int, int]]]]

symbols = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=5)
rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), symbols), min_size=1, max_size=10)


def recorded(found: Rows) -> Demand:
    flat = [pair for _, _, prompt in found for pair in prompt]
    return Demand(
        prompts=Prompts(
            np.array([identity for identity, _ in flat], dtype=np.int32),
            np.cumsum([0, *(len(prompt) for _, _, prompt in found)]),
            np.array([tokens for _, tokens in flat], dtype=np.int32),
        ),
        output_tokens=np.array([output for _, output, _ in found], dtype=np.int64),
        cluster=np.arange(len(found)),
        request_id=tuple(map(str, range(len(found)))),
        arrival_ns=np.array([second for second, _, _ in found], dtype=np.int64) * 10**9,
    )


@settings(deadline=None, max_examples=200)
@given(rows, st.integers(0, 4), st.integers(1, 4), st.none() | st.integers(1, 12), st.none() | st.integers(1, 5))
def test_window_drops_limit_and_number(
    found: Rows, start: int, span: int, limit: int | None, number: int | None
) -> None:
    options = Azure(
        path=Path(),
        start_s=start,
        end_s=start + span,
        max_prompt_tokens=limit,
        over_limit="truncate",
        num_requests=number,
    )
    demand = options.apply(recorded(found))
    # one by one: sorted, inside, not empty, cut, counted
    inside = sorted(
        (row for row in enumerate(found) if start <= row[1][0] < start + span), key=lambda row: (row[1][0], row[0])
    )
    whole = [(name, row) for name, row in inside if row[1] and row[2]][:number]
    assert demand.request_id == tuple(str(name) for name, _ in whole)
    assert demand.arrival_ns is not None
    assert demand.arrival_ns.tolist() == [(row[0] - start) * 10**9 for _, row in whole]
    assert demand.output_tokens.tolist() == [row[1] for _, row in whole]
    assert [tokens_of(prompt) for prompt in prompts_of(demand)] == [tokens_of(row[2])[:limit] for _, row in whole]
    empty = sum(not row[2] for _, row in inside)
    silent = sum(bool(row[2]) and not row[1] for _, row in inside)
    assert (demand.dropped.get("empty prompt", 0), demand.dropped.get("zero output", 0)) == (empty, silent)


@settings(deadline=None, max_examples=200)
@given(rows, st.sampled_from([0.1, 0.25, 0.5, 1.5, 3.0]))
def test_scaling_never_lets_prompts_differ_where_they_agreed(found: Rows, factor: float) -> None:
    before = Azure(path=Path()).apply(recorded(found))
    after = Azure(path=Path(), length_scale=factor).apply(recorded(found))
    old, new = prompts_of(before), prompts_of(after)
    assert [[identity for identity, _ in prompt] for prompt in old] == [[i for i, _ in prompt] for prompt in new]
    for a, b in zip(old, new, strict=True):
        assert [max(1, round(np.rint(tokens * factor))) for _, tokens in a] == [tokens for _, tokens in b]
    for i, j in itertools.combinations(range(len(old)), 2):
        same = 0  # whole symbols that two prompts share stay shared
        while same < min(len(old[i]), len(old[j])) and old[i][same] == old[j][same]:
            same += 1
        assert new[i][:same] == new[j][:same]

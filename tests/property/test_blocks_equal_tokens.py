"""A workload of blocks is the same workload as its expansion into tokens: equal passes, equal hits."""

from __future__ import annotations

import random

import numpy as np
from engine_kit import Arrivals, drive, request_table
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig
from sim.requests import RequestTable

Row = list[tuple[int, int]]


def block_rows(rng: random.Random, count: int, page: int) -> list[Row]:
    """Prompts of (id, length) symbols that share beginnings; the last block of each may be cut anywhere."""
    rows: list[Row] = []
    lengths = {block: page * rng.randint(1, max(1, 24 // page)) for block in range(4)}
    for _ in range(count):
        stem = rng.choice(rows)[: rng.randint(0, 4)] if rows and rng.random() < 0.7 else []
        whole = [(block, lengths[block]) for block, _ in stem]
        whole += [(block, lengths[block]) for block in rng.choices(range(4), k=rng.randint(1, 3))]
        last, length = whole[-1]
        rows.append([*whole[:-1], (last, rng.randint(1, length))])
    return rows


def as_blocks(rows: list[Row]) -> Prompts:
    flat = [symbol for row in rows for symbol in row]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    ids, lengths = np.array([i for i, _ in flat], np.int32), np.array([length for _, length in flat], np.int32)
    return Prompts(ids, indptr, lengths)


def expanded(row: Row) -> list[int]:
    """One token per (id, offset); offset 0 keeps the id, so single tokens and blocks of length 1 agree."""
    return [block if offset == 0 else 1000 * (block + 1) + offset for block, length in row for offset in range(length)]


def tables(rng: random.Random, count: int, page: int) -> tuple[RequestTable, RequestTable]:
    rows = block_rows(rng, count, page)
    outputs = [[rng.randrange(4) for _ in range(rng.randint(1, 20))] for _ in rows]
    for later in range(1, count):
        if rng.random() < 0.3:  # a later turn: an earlier prompt, its output token by token, and more
            first = rng.randrange(later)
            said = [(token, 1) for token in outputs[first]]
            turn = (rows[first] + said)[: rng.randint(1, 30)]
            if page == 1 or all(length % page == 0 for _, length in turn[:-1]):
                rows[later] = turn
    recorded = [rng.random() < 0.7 for _ in rows]
    lengths, ids = [len(each) for each in outputs], Prompts.from_lists(outputs)
    return (
        request_table(as_blocks(rows), lengths, ids, recorded),
        request_table([expanded(row) for row in rows], lengths, ids, recorded),
    )


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 20),
    page=st.sampled_from([1, 1, 4, 16]),
    engine=st.sampled_from(["0.5.9", "0.5.23"]),
    overlap=st.booleans(),
    policy=st.sampled_from(["fcfs", "lpm", "dfs-weight"]),
)
def test_blocks_serve_like_their_tokens(
    seed: int, count: int, page: int, engine: str, overlap: bool, policy: str
) -> None:
    rng = random.Random(seed)
    blocks, tokens = tables(rng, count, page)
    at = sorted(rng.randint(0, 60) for _ in range(count))
    config = EngineConfig(
        engine=engine,
        overlap=overlap,
        kv_tokens=rng.choice([272, 400, 800]),
        page_tokens=page,
        chunked_prefill_tokens=rng.choice([32, None]),
        schedule_policy=policy,
    )
    runs = [Engine(config, table) for table in (blocks, tokens)]
    logs = [drive(run, Arrivals(list(at)), overlap=overlap, check=True) for run in runs]
    assert logs[0] == logs[1]
    assert runs[0].cached_tokens == runs[1].cached_tokens

"""Prompts as compressed rows: the parts that doctests do not show."""

import numpy as np

from mechanism.prompts import Prompts, offsets


def test_running_totals_go_on_from_chunk_to_chunk() -> None:
    sizes = np.arange(3_000_000, dtype=np.int32) % 1000
    assert np.array_equal(offsets(sizes), np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))))
    assert offsets(sizes[:0]).tolist() == [0]


def test_lengths_count_tokens_and_empty_prompts_have_none() -> None:
    prompts = Prompts(np.array([7, 8, 9]), np.array([0, 2, 2, 3]), np.array([512, 3, 17], dtype=np.int32))
    assert prompts.num_tokens.tolist() == [515, 0, 17]
    assert prompts.take(np.array([2, 0])).num_tokens.tolist() == [17, 515]

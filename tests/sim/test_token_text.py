"""What two requests' texts have in common, by hand and against expanded lists."""

from __future__ import annotations

import numpy as np
import pytest
from engine_kit import request_table

from mechanism.prompts import Prompts
from sim.token_text import text_of


def test_tokens_agree_up_to_the_first_difference() -> None:
    text = text_of(request_table([[1, 2, 3, 4], [1, 2, 9, 4], [1, 2, 3, 4, 5]], [1, 1, 1]))
    assert text.agree_until(0, 1, 0, 4) == 2
    assert text.agree_until(0, 2, 0, 4) == 4
    assert text.agree_until(0, 1, 0, 1) == 1
    assert text.agree_until(0, 1, 2, 4) == 2


def test_private_outputs_agree_with_nobody_but_themselves() -> None:
    text = text_of(request_table([[1, 2], [1, 2, 0], [1, 2]], [3, 3, 3]))
    assert text.agree_until(0, 0, 0, 5) == 5
    assert text.agree_until(0, 1, 0, 3) == 2
    assert text.agree_until(0, 2, 0, 5) == 2
    assert text.agree_until(0, 2, 3, 5) == 3
    assert text.key(0, 2) != text.key(2, 2)
    assert text.key(0, 2) != text.key(1, 2)


def test_a_recorded_output_is_what_a_later_prompt_repeats() -> None:
    outputs = Prompts.from_lists([[7, 8], [5]])
    text = text_of(request_table([[1, 2], [1, 2, 7, 8, 9]], [2, 1], outputs))
    assert text.agree_until(0, 1, 0, 4) == 4
    assert text.key(0, 2) == text.key(1, 2) == 7


def test_only_recorded_rows_of_the_outputs_are_shared() -> None:
    outputs = Prompts.from_lists([[7, 8], [5]])
    text = text_of(request_table([[1, 2], [1, 2, 7, 8, 9]], [2, 1], outputs, [False, True]))
    assert text.agree_until(0, 1, 0, 4) == 2


def test_wide_and_narrow_ids_compare_by_value() -> None:
    outputs = Prompts.from_lists([[2**40], [5]])
    table = request_table([[1, 2], [1, 2, 2**40]], [1, 1], outputs)
    assert text_of(table).agree_until(0, 1, 0, 3) == 3
    narrow = Prompts(table.prompts.symbols.astype(np.int64), table.prompts.indptr)
    assert text_of(request_table(narrow, [1, 1], outputs)).agree_until(0, 1, 0, 3) == 3


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ([(5, 4), (6, 4)], [(5, 4), (6, 2)], 6),  # equal ids share the shorter
        ([(5, 4), (6, 4)], [(5, 4), (7, 4)], 4),
        ([(5, 4), (5, 4)], [(5, 8)], 4),  # a longer symbol is not two shorter ones
        ([(5, 2), (6, 4)], [(5, 4)], 2),
        ([(5, 1), (6, 1)], [(5, 1), (6, 1)], 2),
    ],
)
def test_blocks_share_tokens_not_symbols(
    first: list[tuple[int, int]], second: list[tuple[int, int]], shared: int
) -> None:
    flat = [*first, *second]
    prompts = Prompts(
        np.array([symbol for symbol, _ in flat], np.int32),
        np.array([0, len(first), len(flat)]),
        np.array([length for _, length in flat], np.int32),
    )
    text = text_of(request_table(prompts, [1, 1]))
    lengths = prompts.num_tokens.tolist()
    assert text.agree_until(0, 1, 0, min(lengths)) == shared
    if 0 < shared < min(lengths):
        assert text.key(0, shared) != text.key(1, shared)
    for start in range(shared):  # from anywhere inside what they share
        assert text.agree_until(0, 1, start, min(lengths)) == shared
        assert text.key(0, start) == text.key(1, start)


def test_a_page_of_a_block_is_not_a_page_of_tokens() -> None:
    prompts = Prompts(np.array([5, 5, 0]), np.array([0, 1, 3]), np.array([2, 1, 1], np.int32))
    text = text_of(request_table(prompts, [1, 1]), page_tokens=2)
    assert text.key(0, 0) != text.key(1, 0)


def test_pages_are_keyed_whole() -> None:
    text = text_of(request_table([[1, 2, 3, 4], [1, 2, 3, 5]], [1, 1]), page_tokens=2)
    assert text.key(0, 0) == text.key(1, 0)
    assert text.key(0, 2) != text.key(1, 2)

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.batch_file import BatchFile, read_batch
from sim.errors import ScenarioError


def read(folder: Path, *rows: str, **options: Any) -> BatchFile:
    path = folder / "batch.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    return read_batch(path, **options)


def refusal(folder: Path, *rows: str, **options: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(folder, *rows, **options)
    assert caught.value.exit_code == 2
    return str(caught.value).removeprefix(str(folder))


def test_a_row_needs_a_bid_and_a_prompt_and_the_rest_has_defaults(tmp_path: Path) -> None:
    batch = read(tmp_path, '{"bid": 2, "tokens": [5, 6]}', "", '{"bid": 0, "tokens": []}')
    assert len(batch) == 2
    assert batch.request_id == batch.user == ("1", "3")
    assert batch.bid.tolist() == batch.value.tolist() == [2.0, 0.0]
    assert batch.has_value.tolist() == [False, False]
    assert batch.prompts.symbols.tolist() == [5, 6]
    assert batch.prompts.symbols.dtype == np.int32
    assert batch.prompts.indptr.tolist() == [0, 2, 2]
    assert batch.prompts.lengths is None
    assert batch.has_output.tolist() == batch.has_output_ids.tolist() == [False, False]
    assert (batch.arrival_s, batch.session, batch.turn) == (None, None, None)
    assert batch.lines.tolist() == [1, 3]


def test_every_field_is_read(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        '{"id": "a", "user": "u", "bid": 1, "value": 3.5, "tokens": [1], "arrival_s": 0.5, "output_tokens": 4,'
        ' "session": "s", "turn": 7}',
        '{"id": 9, "user": 8, "bid": 2e-3, "tokens": [1], "arrival_s": 0, "output_ids": [7, 8], "session": "s"}',
        '{"bid": 2, "tokens": [1], "arrival_s": 1, "output_ids": []}',
    )
    assert batch.request_id == ("a", "9", "3")
    assert batch.user == ("u", "8", "3")
    assert batch.bid.tolist() == [1.0, 0.002, 2.0]
    assert batch.value.tolist() == [3.5, 0.002, 2.0]
    assert batch.has_value.tolist() == [True, False, False]
    assert batch.arrival_s is not None
    assert batch.arrival_s.tolist() == [0.5, 0.0, 1.0]
    assert batch.output_tokens.tolist() == [4, 2, 0]
    assert batch.has_output.tolist() == [True, True, True]
    assert batch.has_output_ids.tolist() == [False, True, True]
    assert batch.output_ids.symbols.tolist() == [7, 8]
    assert batch.session == ("s", "s", "3")
    assert batch.turn is not None
    assert batch.turn.tolist() == [7, 1, 0]


def test_text_is_utf_8_bytes(tmp_path: Path) -> None:
    batch = read(tmp_path, '{"bid": 1, "prompt": "né"}', '{"bid": 1, "prompt": ""}')
    assert batch.prompts.symbols.tolist() == list("né".encode())
    assert batch.prompts.num_tokens.tolist() == [3, 0]


def test_blocks_weigh_the_last_by_its_remainder(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        '{"bid": 1, "hash_ids": [7, 8, 9], "input_length": 1025, "block_tokens": 512}',
        '{"bid": 1, "hash_ids": [7, 7], "input_length": 8, "block_tokens": 4}',
        '{"bid": 1, "hash_ids": [], "input_length": 0}',
        '{"bid": 1, "hash_ids": [5], "input_length": 17}',
        block_tokens=100,
    )
    assert batch.prompts.lengths is not None
    assert batch.prompts.lengths.tolist() == [512, 512, 1, 4, 4, 17]
    assert batch.prompts.num_tokens.tolist() == [1025, 8, 0, 17]


def test_ids_beyond_32_bits_are_kept(tmp_path: Path) -> None:
    wide = [2**31, -(2**63), 2**63 - 1]
    batch = read(tmp_path, '{"bid": 1, "tokens": [1, 2]}', json.dumps({"bid": 1, "tokens": [3, *wide]}))
    assert batch.prompts.symbols.tolist() == [1, 2, 3, *wide]
    assert batch.prompts.indptr.tolist() == [0, 2, 6]
    assert "batch.jsonl:1: tokens: found 9223372036854775808; expected ids that fit 64" in refusal(
        tmp_path, json.dumps({"bid": 1, "tokens": [2**63]})
    )


ROW = '{"bid": 1, "tokens": [1]}'


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "/batch.jsonl: found no requests; expected at least one line."),
        (["", "  "], "/batch.jsonl: found no requests"),
        (
            ["{"],
            "/batch.jsonl:1: found Expecting property name enclosed in double quotes at column 2; expected one JSON",
        ),
        ([ROW, "[1]"], "/batch.jsonl:2: found [1]; expected one JSON object a line."),
        ([ROW + ROW], "/batch.jsonl:1: found Extra data at column 26"),
        (['{"bid": NaN, "tokens": []}'], "/batch.jsonl:1: found NaN; expected finite numbers, and each key once."),
        (['{"bid": 1, "bid": 2, "tokens": []}'], '/batch.jsonl:1: found the key "bid" twice'),
        (['{"tokens": [1]}'], '/batch.jsonl:1: bid: found nothing; expected the key "bid".'),
        (['{"bid": -1, "tokens": []}'], "/batch.jsonl:1: bid: found -1; expected a finite number, 0 or more."),
        (['{"bid": 1e999, "tokens": []}'], "/batch.jsonl:1: bid: found Infinity; expected a finite number"),
        (['{"bid": true, "tokens": []}'], "/batch.jsonl:1: bid: found true; expected a finite number"),
        (['{"bid": "3", "tokens": []}'], '/batch.jsonl:1: bid: found "3"; expected a finite number'),
        ([f'{{"bid": 1{"0" * 400}, "tokens": []}}'], "expected a number that fits a double"),
        (['{"bid": 1, "value": -2, "tokens": []}'], "/batch.jsonl:1: value: found -2"),
        (
            ['{"bid": 1}'],
            "/batch.jsonl:1: tokens: found none of them; expected exactly one of tokens, prompt, hash_ids.",
        ),
        (
            ['{"bid": 1, "tokens": [], "prompt": ""}'],
            "/batch.jsonl:1: tokens: found tokens and prompt; expected exactly",
        ),
        (
            [ROW, '{"bid": 1, "prompt": "x"}'],
            "/batch.jsonl:2: prompt: found prompt; expected tokens, as on line 1: one",
        ),
        (['{"bid": 1, "tokens": [1.0]}'], "/batch.jsonl:1: tokens: found [1.0]; expected a list of integers."),
        (['{"bid": 1, "tokens": [true]}'], "/batch.jsonl:1: tokens: found [true]; expected a list of integers."),
        (['{"bid": 1, "tokens": 3}'], "/batch.jsonl:1: tokens: found 3; expected a list of integers."),
        (['{"bid": 1, "prompt": [1]}'], "/batch.jsonl:1: prompt: found [1]; expected a text."),
        (['{"bid": 1, "prompt": "\\ud800"}'], "/batch.jsonl:1: prompt: found half a surrogate pair"),
        (['{"bid": 1, "tokens": [1], "user": "\\ud800"}'], "/batch.jsonl:1: user: found half a surrogate pair"),
        ([ROW, '{"bid": ' + "1" * 5000 + "}"], "/batch.jsonl:2: found an integer of thousands of digits"),
        (
            ['{"bid": 1, "tokens": [], "input_length": 0}'],
            "/batch.jsonl:1: input_length: found input_length beside tokens",
        ),
        (
            ['{"bid": 1, "hash_ids": [1], "input_length": 513, "block_tokens": 512}'],
            "/batch.jsonl:1: hash_ids: found 1 ids for 513 tokens in blocks of 512; expected 2 ids.",
        ),
        (
            ['{"bid": 1, "hash_ids": [1, 2], "input_length": 512, "block_tokens": 512}'],
            "/batch.jsonl:1: hash_ids: found 2 ids for 512 tokens in blocks of 512; expected 1 ids.",
        ),
        (
            ['{"bid": 1, "hash_ids": [1], "input_length": 3}'],
            "/batch.jsonl:1: block_tokens: found nothing; expected the",
        ),
        (
            ['{"bid": 1, "hash_ids": [1], "input_length": 3, "block_tokens": 0}'],
            "/batch.jsonl:1: block_tokens: found 0; expected an integer, 1 or more.",
        ),
        (
            ['{"bid": 1, "hash_ids": [1], "input_length": 2147483648, "block_tokens": 4294967296}'],
            "/batch.jsonl:1: input_length: found 2147483648; expected below 2,147,483,648 tokens.",
        ),
        (['{"id": "a", "bid": 1, "tokens": []}'] * 2, '/batch.jsonl:2: id: found "a", which is on line 1 too'),
        (['{"id": "2", "bid": 1, "tokens": []}', ROW], '/batch.jsonl:2: id: found "2", which is on line 1 too'),
        (['{"id": null, "bid": 1, "tokens": []}'], "/batch.jsonl:1: id: found null; expected a string."),
        (['{"id": true, "bid": 1, "tokens": []}'], "/batch.jsonl:1: id: found true; expected a string."),
        (
            ['{"bid": 1, "tokens": [], "arrival": 3}'],
            'found the unknown key "arrival"; expected a known key. Did you mean',
        ),
        (
            [ROW, '{"bid": 1, "tokens": [], "arrival_s": 3}'],
            "/batch.jsonl:2: arrival_s: found an arrival time; expected the",
        ),
        (
            ['{"bid": 1, "tokens": [], "arrival_s": 3}', ROW],
            "/batch.jsonl:2: arrival_s: found no arrival time; expected the",
        ),
        (
            ['{"bid": 1, "tokens": [], "arrival_s": -1}'],
            "/batch.jsonl:1: arrival_s: found -1; expected a finite number, 0",
        ),
        (
            ['{"bid": 1, "tokens": [], "output_tokens": 1.5}'],
            "/batch.jsonl:1: output_tokens: found 1.5; expected an integer",
        ),
        (['{"bid": 1, "tokens": [], "output_tokens": -1}'], "/batch.jsonl:1: output_tokens: found -1"),
        (
            ['{"bid": 1, "tokens": [], "output_tokens": 3, "output_ids": [1]}'],
            "/batch.jsonl:1: output_ids: found 1 ids; expected as many as output_tokens, which is 3.",
        ),
        (['{"bid": 1, "tokens": [], "turn": 1}'], "/batch.jsonl:1: turn: found a turn without a session"),
        (
            ['{"bid": 1e308, "tokens": []}'] * 2,
            "/batch.jsonl: bid: found a sum that overflows; expected a finite sum over 2",
        ),
        (['{"bid": 0, "value": 1e308, "tokens": []}'] * 2, "/batch.jsonl: value: found a sum that overflows"),
        (["[" * 100_000], "/batch.jsonl:1: found maximum recursion depth exceeded"),
    ],
)
def test_what_is_not_the_format_is_refused_by_line_and_key(tmp_path: Path, rows: list[str], message: str) -> None:
    assert message in refusal(tmp_path, *rows)


def test_byte_order_mark_crlf_blank_lines_and_a_missing_last_newline_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"bid": 1, "prompt": "a\xe2\x80\xa8b"}\r\n\r\n \t\r\n{"bid": 2, "prompt": "c"}')
    batch = read_batch(path)
    assert batch.request_id == ("1", "4")
    assert batch.prompts.num_tokens.tolist() == [5, 1]


def test_a_missing_file_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        read_batch(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"bid": 1, "prompt": "caf\xe9"}\n')
    with pytest.raises(ScenarioError, match="found bytes that are not UTF-8"):
        read_batch(tmp_path / "latin.jsonl")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), min_size=1, max_size=6), st.data())
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], data: Any
) -> None:
    money = st.floats(0, 1e100, allow_nan=False)
    bids = [data.draw(money) for _ in rows]
    texts = [json.dumps({"tokens": row, "bid": bid}) for row, bid in zip(rows, bids, strict=True)]
    batch = read(tmp_path_factory.mktemp("batch"), *texts)
    assert batch.bid.tolist() == bids
    ends = batch.prompts.indptr
    assert [batch.prompts.symbols[a:b].tolist() for a, b in itertools.pairwise(ends)] == rows

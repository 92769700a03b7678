"""ServeGen's batch jobs."""

from pathlib import Path

from trace_kit import jsonl_of, prompts_of, read, refusal

CONTENT = {
    "request_id": 0,
    "type": "multimodal",
    "input_length": 35,
    "hash_ids": [655296, 655297, 655298],
    "img_ids": ["i"],
}
STAT = {"request_id": 1, "type": "text", "input_length": 61, "output_length": 2370, "duration": 14000}


def test_blocks_of_sixteen_or_lengths_alone(tmp_path: Path) -> None:
    demand = read("servegen", jsonl_of(tmp_path / "t.jsonl", CONTENT, STAT), output_tokens=9)
    blocks, private = prompts_of(demand)
    assert blocks == [(655296, 16), (655297, 16), (655298, 3)]
    assert [tokens for _, tokens in private] == [61]
    assert demand.output_tokens.tolist() == [9, 2370]
    assert demand.request_id == ("0", "1")
    assert demand.arrival_ns is None


def test_ids_are_unique(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", STAT, CONTENT, STAT)
    assert 't.jsonl:3: found the id "1", which is on line 1 too; expected an id of its own' in refusal("servegen", path)


def test_blocks_must_fit_the_length(tmp_path: Path) -> None:
    path = jsonl_of(tmp_path / "t.jsonl", {**CONTENT, "input_length": 32})
    assert "found 3 ids for 32 tokens in blocks of 16; expected 2 ids" in refusal("servegen", path)

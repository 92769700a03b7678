"""Weka's sessions: local ids, whole blocks, sub-agents, compaction."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from trace_kit import arrivals_s, prompts_of, read, refusal


def call(t: float, tokens: int, ids: list[int], out: int = 5, **more: Any) -> dict[str, Any]:
    return {"t": t, "type": "n", "in": tokens, "out": out, "hash_ids": ids, **more}


def document(path: Path, *requests: dict[str, Any], **head: Any) -> Path:
    data = {"id": path.name.split(".")[0], "block_size": 64, "hash_id_scope": "local", "requests": requests, **head}
    text = json.dumps(data).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def test_oddity_o16_whole_blocks_and_a_private_end(tmp_path: Path) -> None:
    # 71,175 tokens are 1,112 blocks of 64 and 7 more
    demand = read("weka", document(tmp_path / "a.json.gz", call(0, 71175, list(range(1, 1113)))))
    (prompt,) = prompts_of(demand)
    assert prompt[:-1] == [(identity, 64) for identity in range(1, 1113)]
    assert prompt[-1][0] < 0
    assert prompt[-1][1] == 7


def test_a_last_block_may_have_an_id_too(tmp_path: Path) -> None:
    demand = read("weka", document(tmp_path / "a.json", call(0, 130, [1, 2, 3]), call(1, 128, [1, 2]), call(2, 5, [])))
    assert prompts_of(demand)[:2] == [[(1, 64), (2, 64), (3, 2)], [(1, 64), (2, 64)]]
    assert prompts_of(demand)[2][0][1] == 5


def test_oddity_o17_every_file_has_ids_of_its_own(tmp_path: Path) -> None:
    document(tmp_path / "b.json", call(0, 192, [1, 2, 3]))
    document(tmp_path / "a.json.gz", call(0, 128, [1, 7]), call(3, 64, [1]))
    demand = read("weka", tmp_path)
    assert demand.request_id == ("a/0", "b/0", "a/1")
    first, second, third = ({identity for identity, _ in prompt} for prompt in prompts_of(demand))
    assert first & third
    assert not second & (first | third)
    assert demand.cluster.tolist() == [0, 1, 0]


def test_global_ids_stay_as_they_are(tmp_path: Path) -> None:
    for name in ("a", "b"):
        document(tmp_path / f"{name}.json", call(0, 64, [9]), hash_id_scope="global")
    assert prompts_of(read("weka", tmp_path)) == [[(9, 64)], [(9, 64)]]
    document(tmp_path / "c.json", call(0, 64, [9]))
    assert "c.json: document.hash_id_scope" in refusal("weka", tmp_path)


def test_oddity_o19_an_aborted_call(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", call(0, 64, [1], out=0), call(9, 64, [1]))
    assert read("weka", path).dropped == {"zero output": 1}
    assert read("weka", path, zero_output="keep").output_tokens.tolist() == [1, 5]


def test_oddity_o20_a_compacted_context_shares_what_its_ids_share(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", call(0, 256, [1, 2, 3, 4]), call(5, 128, [1, 9]), call(8, 192, [1, 9, 10]))
    prompts = prompts_of(read("weka", path))
    assert [len(prompt) for prompt in prompts] == [4, 2, 3]
    assert prompts[1][0] == prompts[0][0]
    assert prompts[1][1] != prompts[0][1]
    assert prompts[2][:2] == prompts[1]


def test_a_sub_agent_is_a_session_beside_its_parents(tmp_path: Path) -> None:
    inner = [call(0, 64, [50], api_time=2.0), call(6, 128, [50, 51], think_time=4.0)]
    agent = {"t": 79.5, "type": "subagent", "agent_id": "agent_001", "requests": inner}
    calls = call(0, 64, [1], api_time=18.0), agent, call(228, 128, [1, 2], think_time=209.0), call(240, 64, [1])
    demand = read("weka", document(tmp_path / "a.json", *calls))
    assert demand.session == ("a", "a/agent_001", "a/agent_001", "a", "a")
    assert demand.request_id == ("a/0", "a/agent_001/0", "a/agent_001/1", "a/2", "a/3")
    assert arrivals_s(demand) == [0, 79.5, 85.5, 228, 240]
    assert demand.turn is not None
    assert demand.turn.tolist() == [0, 0, 1, 1, 2]
    assert demand.think_ns is not None
    # the last call says nothing of its pause: it is what lies between the calls
    assert (demand.think_ns / 1e9).tolist() == [0, 0, 4, 209, 12]


def test_documents_can_start_as_a_poisson_process(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        agent = {"t": 2, "type": "subagent", "agent_id": "x", "requests": [call(0, 64, [2])]}
        document(tmp_path / f"{name}.json", call(0, 64, [1]), agent, call(10, 64, [1]))
    demand = read("weka", tmp_path, session_rate=0.01)
    assert demand.session is not None
    times: dict[str, list[float]] = {}
    for name, time in zip(demand.session, arrivals_s(demand), strict=True):
        times.setdefault(name, []).append(time)
    starts = [times[name][0] for name in ("a", "b", "c")]
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    for name, start in zip(("a", "b", "c"), starts, strict=True):
        assert times[name] == pytest.approx([start, start + 10])
        assert times[f"{name}/x"] == pytest.approx([start + 2])
    again = read("weka", tmp_path, session_rate=0.01)
    assert arrivals_s(again) == arrivals_s(demand)
    assert arrivals_s(read("weka", tmp_path, seed=1, session_rate=0.01)) != arrivals_s(demand)


def test_documents_move_as_wholes_whatever_their_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        document(tmp_path / f"{name}.json", call(0, 64, [1]), call(10, 64, [1]), id=f"team/{name}")
    demand = read("weka", tmp_path, session_rate=0.01)
    assert demand.session is not None
    starts = dict(zip(demand.session[::-1], arrivals_s(demand)[::-1], strict=True))
    assert starts["team/b"] > starts["team/a"] == 0


@pytest.mark.parametrize(
    ("requests", "complaint"),
    [
        (
            [call(0, 640, [1])],
            "a.json: requests[0].hash_ids: found 1 ids for 640 tokens in blocks of 64; expected 10 ids",
        ),
        ([call(0, 64, [1]), call(-1, 64, [1])], "a.json: requests[1].t: found -1; expected a finite number, 0 or more"),
        ([{"t": 0, "type": "n", "in": 64, "out": 1}], "a.json: requests[0].hash_ids: found nothing; expected the key"),
        (["call"], 'a.json: requests[0]: found "call"; expected an object'),
        (
            [{"t": 0, "type": "subagent", "agent_id": "x", "requests": 3}],
            "requests[0].requests: found 3; expected a list",
        ),
    ],
)
def test_what_is_not_the_format_is_refused_by_its_address(tmp_path: Path, requests: Any, complaint: str) -> None:
    assert complaint in refusal("weka", document(tmp_path / "a.json", *requests))


def test_documents_of_one_id_are_refused_with_both_their_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        document(tmp_path / f"{name}.json", call(0, 64, [1]), id="same")
    said = refusal("weka", tmp_path)
    assert 'b.json: document.id: found "same", which is in ' in said
    assert "a.json: document too; expected a name of its own" in said


def test_sub_agents_of_one_name_are_refused(tmp_path: Path) -> None:
    agent = {"t": 1, "type": "subagent", "agent_id": "x", "requests": [call(0, 64, [2])]}
    path = document(tmp_path / "a.json", call(0, 64, [1]), agent, call(3, 64, [1]), agent)
    said = refusal("weka", path)
    assert 'a.json: requests[3].agent_id: found "a/x", which is in a.json: requests[1] too' in said


def test_a_folder_must_hold_documents(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert "found no .json or .json.gz file" in refusal("weka", tmp_path / "inner")

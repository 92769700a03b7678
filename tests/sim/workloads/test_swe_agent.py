"""Chains from recorded agents: what each turn is shown, and what it answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_files import SHARED, called, draw, message, needs_shared, save, texts

from sim.errors import ScenarioError
from sim.workloads._trajectories import Message, read_trajectories
from sim.workloads.swe_agent import SweAgent

HISTORY = [
    message("system", "Mend it."),
    message("user", [{"type": "text", "text": "A demonstration."}], is_demo=True),
    message("assistant", "As shown.", is_demo=True),
    message("user", [{"type": "text", "text": "It leaks."}, {"type": "image", "url": "x"}]),
    message("assistant", "I look.", tool_calls=[called("open", '{"path": "roof"}')]),
    message("tool", "A hole."),
    message("assistant", None, tool_calls=[called("patch", "{}")]),
    message("tool", [{"type": "text", "text": "Done."}]),
]
START = "[system]\nMend it.\n\n[user]\nA demonstration.\n\n[assistant]\nAs shown.\n\n[user]\nIt leaks.\n\n[assistant]\n"
LOOK = 'I look.\n{"name": "open", "arguments": "{\\"path\\": \\"roof\\"}"}\n\n'
PATCH = '{"name": "patch", "arguments": "{}"}\n\n'


def workload(*paths: Path, **options: Any) -> SweAgent:
    return SweAgent(**({"paths": paths, "num_requests": None, "tokenizer": None} | options))


def test_a_turn_is_shown_everything_before_it(tmp_path: Path) -> None:
    demand = draw(workload(save(tmp_path / "roof.traj", {"history": HISTORY})))
    assert texts(demand) == [START, f"{START}{LOOK}[tool]\nA hole.\n\n[assistant]\n"]
    assert demand.turn is not None
    assert demand.turn.tolist() == [0, 1]
    assert demand.session == ("0-roof", "0-roof")
    assert demand.request_id == ("0-roof/0", "0-roof/1")
    assert "1 of 1 runs record a history only" in demand.warnings[0]


def test_the_next_turn_repeats_the_recorded_answer_token_by_token(tmp_path: Path) -> None:
    demand = draw(workload(save(tmp_path / "roof.traj", {"history": HISTORY}), tokenizer="o200k"))
    assert demand.output_ids is not None
    ids, prompts = demand.output_ids, demand.prompts
    first, second = (prompts.symbols[prompts.indptr[k] : prompts.indptr[k + 1]] for k in (0, 1))
    answer = ids.symbols[: ids.indptr[1]]
    assert second[: len(first) + len(answer)].tolist() == [*first.tolist(), *answer.tolist()]
    assert demand.output_tokens.tolist() == ids.num_tokens.tolist()
    assert demand.facts["turn_sharing"] == len(first) / len(second)


def test_an_integer_gives_private_outputs(tmp_path: Path) -> None:
    demand = draw(workload(save(tmp_path / "roof.traj", {"history": HISTORY}), output_tokens=7))
    assert demand.output_tokens.tolist() == [7, 7]
    assert demand.output_ids is None


def step(response: str, **recorded: Any) -> dict[str, Any]:
    return {"response": response, "thought": response, "action": "", "observation": "", **recorded}


SYSTEM, ISSUE = message("system", "Mend it."), message("user", "It leaks.")
ANSWERS = [message("assistant", f"Try {k}.") for k in range(3)]
SEEN = [message("tool", f"Drip {k}.") for k in range(3)]
ELIDED = message("tool", "(1 line omitted)")
AFTER = [
    [SYSTEM, ISSUE, ANSWERS[0], SEEN[0]],
    [SYSTEM, ISSUE, ANSWERS[0], ELIDED, ANSWERS[1], SEEN[1]],
    [SYSTEM, ISSUE, ANSWERS[0], ELIDED, ANSWERS[1], ELIDED, ANSWERS[2], SEEN[2]],
]
SHOWN = [
    "[system]\nMend it.\n\n[user]\nIt leaks.\n\n[assistant]\n",
    "[system]\nMend it.\n\n[user]\nIt leaks.\n\n[assistant]\nTry 0.\n\n[tool]\nDrip 0.\n\n[assistant]\n",
    "[system]\nMend it.\n\n[user]\nIt leaks.\n\n[assistant]\nTry 0.\n\n[tool]\n(1 line omitted)\n\n"
    "[assistant]\nTry 1.\n\n[tool]\nDrip 1.\n\n[assistant]\n",
]


def test_what_a_step_leaves_behind_is_what_the_next_is_shown_elisions_and_all(tmp_path: Path) -> None:
    steps = [step(f"Try {k}.", messages=AFTER[k]) for k in range(3)]
    whole = [SYSTEM, ISSUE, *(m for pair in zip(ANSWERS, SEEN, strict=True) for m in pair)]
    path = save(tmp_path / "elided.traj.gz", {"history": whole, "trajectory": steps})
    demand = draw(workload(path))
    assert texts(demand) == SHOWN
    assert demand.warnings == ()
    assert [turn.answer.text for turn in read_trajectories([path])[0].turns] == ["Try 0.", "Try 1.", "Try 2."]


def test_a_recorded_query_is_what_its_own_step_was_shown(tmp_path: Path) -> None:
    queries = [AFTER[0][:2], AFTER[0], AFTER[1]]
    steps = [step(f"Try {k}.", query=query) for k, query in enumerate(queries)]
    path = save(tmp_path / "query.traj", {"history": [], "trajectory": steps})
    assert texts(draw(workload(path))) == SHOWN
    assert [turn.answer.text for turn in read_trajectories([path])[0].turns] == ["Try 0.", "Try 1.", "Try 2."]


def test_an_answer_that_was_thrown_away_is_replayed_too(tmp_path: Path) -> None:
    steps = [step("Mumble.", messages=AFTER[0][:2]), step("Try 0.", messages=AFTER[0])]
    path = save(tmp_path / "retry.traj", {"history": AFTER[0], "trajectory": steps})
    turns = read_trajectories([path])[0].turns
    assert [turn.answer for turn in turns] == [Message("assistant", "Mumble."), Message("assistant", "Try 0.")]
    assert turns[0].shown == turns[1].shown == (Message("system", "Mend it."), Message("user", "It leaks."))


def test_conversations_a_line_and_folders_are_read(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"messages": HISTORY, "instance_id": str(k)}) for k in range(2))
    (tmp_path / "tuning.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    runs = read_trajectories([tmp_path / "tuning.jsonl.gz"])
    assert [(run.name, len(run.turns)) for run in runs] == [("tuning:1", 2), ("tuning:2", 2)]
    (tmp_path / "inner").mkdir()
    save(tmp_path / "inner" / "b.traj", {"history": HISTORY})
    save(tmp_path / "a.traj.gz", {"history": HISTORY})
    save(tmp_path / "notes.json", {})
    assert [run.name for run in read_trajectories([tmp_path])] == ["a", "b"]


def two_runs(folder: Path) -> list[Path]:
    second = [message("system", "Mend it."), message("user", "It burns."), message("assistant", "Water.")]
    return [save(folder / "a.traj", {"history": HISTORY}), save(folder / "b.traj", {"history": second})]


def test_runs_are_replayed_until_there_are_enough_turns(tmp_path: Path) -> None:
    demand = draw(workload(*two_runs(tmp_path), num_requests=7))
    assert len(demand.prompts) == 7
    assert demand.session is not None
    assert len(set(demand.session)) == demand.cluster.max() + 1
    assert len(set(demand.request_id or ())) == 7
    assert len(set(texts(demand))) == 3  # replays ask what was asked before
    assert demand.turn is not None
    for c in range(int(demand.cluster.max()) + 1):  # turns keep their order
        assert demand.turn[demand.cluster == c].tolist() == list(range(int((demand.cluster == c).sum())))


def test_private_replays_share_nothing_with_anything(tmp_path: Path) -> None:
    demand = draw(workload(*two_runs(tmp_path), num_requests=9, private_runs=True))
    first = demand.prompts.symbols[demand.prompts.indptr[:-1]]
    assert demand.session is not None
    replayed = np.array(["replay" in name for name in demand.session])
    assert replayed.sum() == 6
    assert (first[~replayed] == ord("[")).all()
    openings: dict[int, set[int]] = {}
    for token, c in zip(first[replayed].tolist(), demand.cluster[replayed].tolist(), strict=True):
        openings.setdefault(token, set()).add(c)
    assert min(openings) >= 1 << 30
    assert all(len(clusters) == 1 for clusters in openings.values())


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([{"history": []}], "A viewer's log"),
        ({"trajectory": []}, r'history: found nothing; expected the key "history"'),
        ({"history": [{"content": "x"}]}, r"history\[0\]\.role: found nothing"),
        ({"history": [{"role": "user", "content": 3}]}, r"history\[0\]\.content: found 3; expected a list"),
        ({"history": []}, "no turn of an assistant"),
        ({"history": [], "trajectory": [step("x", messages=3)]}, r"trajectory\[0\]\.messages: found 3"),
    ],
)
def test_what_is_no_trajectory_is_refused(tmp_path: Path, document: Any, complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        draw(workload(save(tmp_path / "bad.traj", document)))


@needs_shared
def test_real_agents_repeat_80_to_95_percent_of_a_prompt_from_the_turn_before() -> None:
    demand = draw(SweAgent(paths=(SHARED / "sweagent", SHARED / "swesmith"), num_requests=None))
    assert len(demand.prompts) == 143
    assert 0.80 < demand.facts["turn_sharing"] < 0.95
    assert 0.80 < demand.facts["sharing"] < 0.95


@needs_shared
def test_real_elided_observations_break_the_prefix_where_the_agent_did() -> None:
    name = "demo__replay__marshmallow-code__marshmallow-1867__function_calling_replace_from_source"
    path = SHARED / "sweagent" / f"{name}__marshmallow-code__marshmallow-1867.traj"
    turns = read_trajectories([path])[0].turns
    broken = [k for k in range(1, len(turns)) if turns[k].shown[: len(turns[k - 1].shown)] != turns[k - 1].shown]
    assert len(turns) == 13
    assert broken == [6, 7, 8, 9, 10, 11, 12]  # the last step's elision was recorded, and never asked with
    assert turns[6].shown[3].text.startswith("Old environment output: (")


@needs_shared
def test_real_content_is_a_text_or_a_list_of_parts() -> None:
    (run,) = read_trajectories([SHARED / "swesmith/pydantic__pydantic.acb0f10f.pr_8316.traj.gz"])
    assert (len(run.turns), run.as_shown) == (22, True)
    assert run.turns[0].shown[1].text.startswith("<uploaded_files>")


@needs_shared
def test_real_agents_reach_1024_requests() -> None:
    demand = draw(SweAgent(paths=(SHARED / "sweagent", SHARED / "swesmith"), private_runs=True))
    assert len(demand.prompts) == 1024
    assert demand.prompts.num_tokens.max() < 23_000
    assert 0.80 < demand.facts["sharing"] < 0.95

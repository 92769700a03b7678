"""Agent trajectories: what the model was shown at every turn, and what it answered.

Three shapes are read. SWE-agent from 1.1 on records with each step the messages of its `query`. SWE-agent 1.0 and
SWE-smith record after each step the `messages` as they then stand, which is what the *next* step is asked with (the
agent appends the step, then saves its processed history). Older files, demonstrations and training conversations
have a history only: there, a turn is shown everything before it. Processed histories may differ from it, because
agents replace old observations by a line of omission.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.errors import ScenarioError
from sim.workloads._json_items import Item, read_json, read_json_lines
from sim.workloads._real_texts import FileKey, file_keys

__all__ = ["Message", "Run", "Turn", "read_trajectories"]

_SUFFIXES = (".traj", ".traj.gz")


@dataclass(frozen=True, slots=True)
class Message:
    """Who says what; calls of tools are part of what an assistant says."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: what the model is shown, and its answer."""

    shown: tuple[Message, ...]
    answer: Message


@dataclass(frozen=True, slots=True)
class Run:
    """The turns of one trajectory; `as_shown` is whether the file records what was shown, elisions and all."""

    name: str
    turns: tuple[Turn, ...]
    as_shown: bool


def read_trajectories(paths: Sequence[Path]) -> tuple[Run, ...]:
    """The runs in files, and in the `.traj` and `.traj.gz` files of folders (by name), that have at least one turn.

    A `.jsonl` (or `.jsonl.gz`) file has one conversation a line, under `messages`.

    Raises
    ------
    ScenarioError
        Not the format, with file and key; no turn at all.
    """
    files = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    runs = tuple(run for key in file_keys(files) for run in _read(key) if run.turns)
    if not runs:
        raise ScenarioError(", ".join(map(str, paths)), "no turn of an assistant", "trajectories (.traj, .traj.gz)")
    return runs


def _inside(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.traj*") if file.name.endswith(_SUFFIXES))


@functools.lru_cache(maxsize=1024)
def _read(key: FileKey) -> tuple[Run, ...]:
    path = key[0]
    name = path.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        rows = enumerate(read_json_lines(path), 1)
        return tuple(Run(f"{Path(name).stem}:{k}", _from_history(row["messages"]), False) for k, row in rows)
    document = read_json(path)
    if isinstance(document.value, list):
        hint = "A viewer's log of thoughts and actions is no trajectory: it lacks the prompts."
        raise ScenarioError(str(path), "a list", "an object with a history", hint)
    steps = list(document["trajectory"]) if "trajectory" in document else []
    for recorded, turns in (("query", _from_queries), ("messages", _from_messages)):
        if steps and recorded in steps[0]:
            return (Run(Path(name).stem, turns(steps), True),)
    return (Run(Path(name).stem, _from_history(document["history"]), False),)


def _from_history(history: Item) -> tuple[Turn, ...]:
    """A turn per assistant message; the demonstration that some prompts begin with is no turn."""
    items = list(history)
    messages = tuple(map(_message, items))
    asked = [k for k, m in enumerate(messages) if m.role == "assistant" and not items[k].value.get("is_demo")]
    return tuple(Turn(messages[:k], messages[k]) for k in asked)


def _from_messages(steps: Sequence[Item]) -> tuple[Turn, ...]:
    """Step k leaves behind what step k + 1 is asked with; step 0 is asked with what stands before its answer."""
    after = [tuple(_message(item) for item in step["messages"]) for step in steps]
    answers = [_last_said(messages, step["response"].text()) for messages, step in zip(after, steps, strict=True)]
    first = after[0].index(answers[0]) if answers[0] in after[0] else len(after[0])
    return tuple(map(Turn, [after[0][:first], *after[:-1]], answers))


def _last_said(messages: tuple[Message, ...], response: str) -> Message:
    """A step's answer with its calls of tools: the last message of the assistant, unless the answer was thrown away."""
    said = next((message for message in reversed(messages) if message.role == "assistant"), None)
    return said if said is not None and said.text.startswith(response) else Message("assistant", response)


def _from_queries(steps: Sequence[Item]) -> tuple[Turn, ...]:
    """Step k was asked with its query; what it answered stands in the next query, with its calls of tools."""
    queries = [tuple(_message(item) for item in step["query"]) for step in steps]
    turns = []
    for shown, following, step in zip(queries, [*queries[1:], ()], steps, strict=True):
        answer = following[len(shown)] if len(following) > len(shown) else None
        if answer is None or answer.role != "assistant":
            answer = Message("assistant", step["response"].text())
        turns.append(Turn(shown, answer))
    return tuple(turns)


def _message(item: Item) -> Message:
    return Message(item["role"].text(), "\n".join([*_parts(item), *_calls(item)]))


def _parts(item: Item) -> Iterator[str]:
    """The content: a text, a list of parts of which some are texts, or nothing beside calls of tools."""
    if "content" not in item:
        return
    content = item["content"]
    if isinstance(content.value, str):
        yield content.text()
        return
    for part in content:
        if "text" in part:
            yield part["text"].text()


def _calls(item: Item) -> Iterator[str]:
    if "tool_calls" in item:
        for call in item["tool_calls"]:
            function = call["function"]
            yield json.dumps({"name": function["name"].text(), "arguments": function["arguments"].value})

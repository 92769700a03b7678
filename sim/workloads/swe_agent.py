"""The paper's chains on real text (§5): recorded trajectories of SWE-agent, replayed turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechanism.prompts import IntArray, Prompts
from sim.prefix_sharing import prefix_sharing
from sim.quantities import NumRequests
from sim.requests import Demand
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._real_texts import Files, Tokens, encoder, join_pieces
from sim.workloads._trajectories import Message, Run, Turn, read_trajectories

__all__ = ["SweAgent"]

#: Ids of private tokens; no tokenizer has so many.
_PRIVATE = 1 << 30

Encode = Callable[[str], Tokens]


@dataclass(frozen=True, kw_only=True)
class SweAgent:
    """One request for every turn of the assistant; its prompt is what the model was shown, its output the answer.

    Messages are written as ``[role]``, a line break, the text and a blank line, and a prompt ends in ``[assistant]``.
    Each header and each text is tokenised by itself, so that an answer's tokens are those that the next turn repeats.
    Elided observations are replayed as recorded.

    Runs are taken in random order. Where the files have fewer turns than `num_requests`, all runs are replayed, again
    and again, as if every task were tried several times; the last run taken may be cut. Runs are interleaved at
    random, and each keeps the order of its turns. A run, or a replay of one, is a cluster and a session.

    Attributes
    ----------
    paths : trajectories (.traj, .traj.gz), folders of them, or files of conversations (.jsonl, .jsonl.gz).
    num_requests : number of requests; null = every turn once.
    output_tokens : recorded = the answer, token by token; or an integer or a distribution, of private tokens.
    private_runs : replays begin with a token of their own, so that they share nothing with the first run.
    tokenizer : o200k, cl100k, a path to tokenizer.json, or null for UTF-8 bytes.
    """

    paths: Files
    num_requests: NumRequests | None = 1024
    output_tokens: Literal["recorded"] | OutputTokens = "recorded"
    private_runs: bool = False
    tokenizer: str | None = "o200k"

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(tokens)."""
        runs, encode = read_trajectories(self.paths), encoder(self.tokenizer)
        plays = self._plays(runs, rng_stream("workload-runs"))
        labels = np.repeat(np.arange(len(plays)), [len(play.turns) for play in plays])
        cluster = rng_stream("workload-order").permutation(labels)
        turn = _turn_numbers(cluster)
        asked = [(plays[c], plays[c].turns[t]) for c, t in zip(cluster.tolist(), turn.tolist(), strict=True)]
        prompts = join_pieces([[*play.private, *_rendered(each.shown, encode)] for play, each in asked])
        answers = join_pieces([[_body(each.answer, encode)] for _, each in asked])
        if self.output_tokens == "recorded":
            output_ids, output_tokens = answers, answers.num_tokens
        else:
            rng = rng_stream("workload-outputs")
            output_ids, output_tokens = None, draw_output_tokens(self.output_tokens, len(asked), rng)
        session = tuple(play.name for play, _ in asked)
        return Demand(
            prompts=prompts,
            output_tokens=output_tokens,
            cluster=cluster,
            request_id=tuple(f"{name}/{number}" for name, number in zip(session, turn.tolist(), strict=True)),
            session=session,
            turn=turn,
            output_ids=output_ids,
            warnings=_warnings(runs),
            facts=_facts(prompts, cluster, turn),
        )

    def _plays(self, runs: Sequence[Run], rng: np.random.Generator) -> list[_Play]:
        """All runs in random order, again and again, until there are `num_requests` turns."""
        plays: list[_Play] = []
        missing = self.num_requests or sum(len(run.turns) for run in runs)
        replay = 0
        while missing > 0:
            for k in rng.permutation(len(runs)).tolist():
                turns = runs[k].turns[:missing]
                missing -= len(turns)
                mark = [_PRIVATE + len(plays)] if self.private_runs and replay else []
                name = f"{k}-{runs[k].name}" + (f"-replay-{replay}" if replay else "")
                plays.append(_Play(name, turns, [np.array(mark, dtype=np.int32)]))
                if missing == 0:
                    break
            replay += 1
        return plays


@dataclass(frozen=True, slots=True)
class _Play:
    """A run as it is replayed: the turns taken, and what its prompts begin with."""

    name: str
    turns: tuple[Turn, ...]
    private: list[Tokens]


def _turn_numbers(cluster: IntArray) -> IntArray:
    """(n,) how many earlier requests of its cluster each request has."""
    by_cluster = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[by_cluster], np.arange(cluster.max() + 1))
    number = np.empty_like(by_cluster)
    number[by_cluster] = np.arange(len(cluster)) - starts[cluster[by_cluster]]
    return number


def _rendered(messages: Sequence[Message], encode: Encode) -> list[Tokens]:
    """The prompt that asks the assistant to go on after `messages`."""
    pieces = [piece for message in messages for piece in (encode(f"[{message.role}]\n"), _body(message, encode))]
    return [*pieces, encode("[assistant]\n")]


def _body(message: Message, encode: Encode) -> Tokens:
    return encode(f"{message.text}\n\n")


def _warnings(runs: Sequence[Run]) -> tuple[str, ...]:
    guessed = sum(not run.as_shown for run in runs)
    if not guessed:
        return ()
    return (f"{guessed} of {len(runs)} runs record a history only: it is replayed whole, without any elision",)


def _facts(prompts: Prompts, cluster: IntArray, turn: IntArray) -> dict[str, float]:
    """Sharing with any earlier request, and of later turns with the turn before: the chain's own."""
    by_chain = np.lexsort((turn, cluster))
    later = np.flatnonzero(turn[by_chain] > 0)
    repeated = [_agree(prompts, by_chain[k - 1], by_chain[k]) for k in later.tolist()]
    asked = prompts.num_tokens[by_chain[later]].sum()
    return {
        "sharing": prefix_sharing(prompts),
        "mean_prompt_tokens": float(prompts.num_tokens.mean()),
        **({"turn_sharing": float(sum(repeated) / asked)} if len(later) else {}),
    }


def _agree(prompts: Prompts, first: int, second: int) -> int:
    """Tokens that two prompts begin with alike."""
    starts = prompts.indptr
    a, b = (prompts.symbols[starts[k] : starts[k + 1]] for k in (first, second))
    room = min(len(a), len(b))
    differs = a[:room] != b[:room]
    return int(differs.argmax()) if differs.any() else room

"""What tests of the engine stand on: small request tables, workloads that share, and a driver without a clock."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanism.prompts import Prompts
from sim.engine import Engine, EngineConfig, Pass
from sim.requests import RequestTable


def request_table(
    prompts: Prompts | Sequence[Sequence[int]],
    output_tokens: Sequence[int],
    output_ids: Prompts | None = None,
    output_recorded: Sequence[bool] | None = None,
) -> RequestTable:
    prompts = prompts if isinstance(prompts, Prompts) else Prompts.from_lists(prompts)
    n = len(prompts)
    return RequestTable(
        request_id=tuple(map(str, range(n))),
        prompts=prompts,
        prompt_tokens=prompts.num_tokens,
        output_tokens=np.array(output_tokens, np.int64),
        output_ids=output_ids,
        output_recorded=None if output_recorded is None else np.array(output_recorded),
        session=None,
        turn=None,
        cluster=np.arange(n),
        arrival_ns=np.zeros(n, np.int64),
        user=np.zeros(n, np.int64),
        user_names=("one",),
        value=np.ones(n),
        stated_bid=np.ones(n),
    )


def sharing_prompts(rng: random.Random, count: int, longest: int, alphabet: int = 3) -> list[list[int]]:
    """Prompts that share prefixes of every length: each extends, cuts or repeats an earlier one."""
    prompts: list[list[int]] = []
    for _ in range(count):
        stem = rng.choice(prompts)[: rng.randint(0, longest)] if prompts and rng.random() < 0.8 else []
        tail = [rng.randrange(alphabet) for _ in range(rng.randint(0, longest - len(stem)))]
        prompts.append((stem + tail) or [0])
    return prompts


def random_table(rng: random.Random, count: int, longest: int, outputs: int) -> RequestTable:
    """Sharing prompts; some outputs recorded, some of them the beginning of a later prompt's continuation."""
    prompts = sharing_prompts(rng, count, longest)
    lengths = [rng.randint(1, outputs) for _ in prompts]
    ids = [[rng.randrange(3) for _ in range(length)] for length in lengths]
    for later in range(1, count):
        if rng.random() < 0.3:
            first = rng.randrange(later)
            prompts[later] = (prompts[first] + ids[first] + prompts[later])[: 2 * longest]
    return request_table(prompts, lengths, Prompts.from_lists(ids), [rng.random() < 0.7 for _ in prompts])


@dataclass
class Arrivals:
    """Who arrives before which turn of the loop; turn numbers count passes, also those jumped over.

    `priorities` are the requests' in order of arrival; empty = they have none.
    """

    at: list[int]
    priorities: Sequence[int] = ()
    sent: int = 0

    def deliver(self, engine: Engine, turn: int) -> None:
        while self.sent < len(self.at) and self.at[self.sent] <= turn:
            engine.enqueue(self.sent, self.priorities[self.sent] if self.priorities else 0)
            self.sent += 1

    def next_turn(self) -> float:
        return self.at[self.sent] if self.sent < len(self.at) else float("inf")


def public(batch: Pass | None) -> Any:
    """What a pass shows, without the engine's own view."""
    return None if batch is None else batch[:8]


def drive(engine: Engine, arrivals: Arrivals, *, overlap: bool, jump: bool = False, check: bool = False) -> list[Any]:
    """Serve everything; the log holds passes and results, in order. With `jump`, runs of decode passes are jumped."""
    log: list[Any] = []
    turn, done, pending = 0, 0, None
    while done < len(arrivals.at):
        assert len(log) < 100_000, "nobody finishes any more"
        arrivals.deliver(engine, turn)
        batch = engine.schedule()
        turn += 1
        log.append(("pass", turn, public(batch), engine.new_token_ratio))
        due, pending = (pending, batch) if overlap else (batch, None)
        if due is None and batch is None:
            turn = max(turn, int(arrivals.next_turn()))
        if jump and not overlap and due is not None:
            steps = int(min(engine.horizon(due), max(arrivals.next_turn() - turn, 0)))
            if steps:
                due = engine.advance(due, steps)
                turn += steps
                log.append(("pass", turn, public(due), engine.new_token_ratio))
        if due is not None:
            result = engine.complete(due)
            done += len(result.finished)
            if result.first_tokens or result.finished:
                log.append(("result", turn, result))
        if jump and overlap and pending is not None:
            steps = int(min(engine.horizon(pending), max(arrivals.next_turn() - turn, 0)))
            if steps:
                pending = engine.advance(pending, steps)
                turn += steps
                log.append(("pass", turn, public(pending), engine.new_token_ratio))
        if check:
            engine.check_integrity()
    if pending is not None:
        engine.complete(pending)
    return log


def served(config: EngineConfig, requests: RequestTable, at: list[int], **options: bool) -> Engine:
    """An engine that has served everything."""
    engine = Engine(config, requests)
    drive(engine, Arrivals(at), overlap=config.overlap, **options)
    return engine

"""Recordings of random servers with priority scheduling, in the format of tests/golden/sglang-*, one a line.

    .venv-sglang-0.5.23/bin/python tests/live/own_scheduler/record_priorities.py 0 50 > runs.jsonl

`server` names the settings, and `requests` the priorities, as our engine does; the two numbers are a range of seeds.
"""

from __future__ import annotations

import json
import logging
import random
import sys
from typing import Any

from alone import Server


def random_server(rng: random.Random) -> dict[str, Any]:
    """Half of them with little memory and much preemption."""
    tight = rng.random() < 0.5
    return {
        "kv_tokens": rng.choice([224, 272, 304, 400, 608] if tight else [224, 304, 1008, 3008]),
        "page_tokens": rng.choice([1, 1, 1, 16]),
        "overlap": rng.random() < 0.5,
        "chunked_prefill_tokens": rng.choice([16, 48, 256, None]),
        "max_prefill_tokens": rng.choice([100, 16384]),
        "max_running_requests": rng.choice([2, 3, 4, 6] if tight else [1, 1, 2, 4, 8]),
        "schedule_conservativeness": rng.choice([0.02, 0.3] if tight else [0.02, 0.3, 1.0]),
        "schedule_policy": rng.choice(["fcfs", "fcfs", "fcfs", "lof"]),
        "eviction": rng.choice(["lru", "lru", "lfu", "priority"]),
        "ignore_eos": rng.random() < (0.2 if tight else 0.6),
        "priority_scheduling": True,
        "preemption_threshold": rng.choice([0, 5, 10] if tight else [0, 10, 10, None]),
    }


def random_requests(rng: random.Random, longest: int = 80) -> list[dict[str, Any]]:
    """Prompts that share prefixes of every length, some of them of few different tokens."""
    requests: list[dict[str, Any]] = []
    spread = rng.choice([1, 3, 30, 200, 200])
    for number in range(rng.randint(2, 40)):
        earlier: list[int] = rng.choice(requests)["input_ids"] if requests and rng.random() < 0.7 else []
        stem, letters = earlier[: rng.randint(0, longest)], 3 if rng.random() < 0.3 else 1000
        tail = [rng.randrange(letters) for _ in range(rng.randint(0, longest - len(stem)))]
        output = [rng.randrange(1000) for _ in range(rng.randint(1, 60))]
        asked = {"id": f"r{number}", "priority": rng.randrange(spread), "input_ids": stem + tail or [7]}
        requests.append({**asked, "output_ids": output})
    return requests


def record(seed: int) -> dict[str, Any]:
    """What a random server does with a random workload; AssertionError if a request is lost."""
    rng = random.Random(seed)
    settings, requests = random_server(rng), random_requests(rng)
    gaps = rng.choice([[0, 0, 1], [0, 1, 5], [1, 3, 10], [0, 0, 0, 40]])
    server, turn, due, waiting, empty = Server(settings, requests), 0, 0, requests[::-1], 0
    while waiting or empty < 3:
        while waiting and due <= turn:
            server.enqueue(waiting.pop()["id"])
            due += rng.choice(gaps)
        empty, turn = (0 if server.turn() else empty + 1), turn + 1
        if empty > 2:
            turn = max(turn, due)
    for each in requests:
        found = server.requests[each["id"]]
        assert found.finished(), f"seed {seed}: {each['id']} was lost"
        each |= {"cached_tokens": found.cached_tokens, "total_retractions": found.retraction_count}
    return {"sglang": "0.5.23", "mode": "turns", "server": settings, "requests": requests, "events": server.events}


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(record(number)), flush=True)

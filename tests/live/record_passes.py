"""Record a run on a real SGLang 0.5.23 server, in the format of tests/golden/sglang-*.

    PASS_LOG=passes.jsonl PYTHONPATH=tests/live/pass_log:… python -m sglang.launch_server --skip-server-warmup
        --skip-tokenizer-init --disable-cuda-graph --device cpu --max-total-tokens 2000 …
    python tests/live/record_passes.py passes.jsonl out.json.gz --mode closed-loop --in-flight 8 --seed 3
        --server '{"page_tokens": 1, "overlap": false, …}'

`--server` says in our words what the server was started with; it becomes the recording's `server`. Prompts share
prefixes of every length, and in a closed loop some continue an earlier request's prompt and output.
"""

from __future__ import annotations

import argparse
import gzip
import json
import queue
import random
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any


class Recorder:
    """One run: a workload, the answers, and the events logged meanwhile."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rng = options, random.Random(options.seed)
        self.prompts = self._prompts()
        shortest, longest = options.output_tokens
        self.outputs = [self.rng.randint(shortest, longest) for _ in self.prompts]
        self.answers: list[Any] = [None] * len(self.prompts)

    def _prompts(self) -> list[list[int]]:
        prompts: list[list[int]] = []
        for _ in range(self.options.requests):
            stem = self.rng.choice(prompts) if prompts and self.rng.random() < 0.75 else []
            stem = stem if self.rng.random() < 0.15 else stem[: self.rng.randint(0, len(stem))]
            room = max(1, self.options.prompt_tokens - len(stem))
            prompts.append(stem + [self.rng.randrange(10, 30_000) for _ in range(self.rng.randint(1, room))])
        return prompts

    def post(self, path: str, body: dict[str, Any]) -> bytes:
        data, header = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.options.url}{path}", data, header)
        with urllib.request.urlopen(request, timeout=600) as answer:
            content: bytes = answer.read()
        return content

    def sampling(self, index: int) -> dict[str, Any]:
        return {"max_new_tokens": self.outputs[index], "ignore_eos": self.options.ignore_eos, "temperature": 0}

    def events(self) -> list[list[Any]]:
        return [json.loads(line) for line in self.options.log.read_text().splitlines()]

    def wait_until_idle(self) -> list[list[Any]]:
        while True:
            events = self.events()
            if len(events) > 2 and all(event[:2] == ["pass", "none"] for event in events[-2:]):
                return events
            time.sleep(0.2)

    def send_at_once(self) -> None:
        count = range(len(self.prompts))
        body = {"rid": [f"r{i}" for i in count], "input_ids": self.prompts}
        answers = json.loads(self.post("/generate", {**body, "sampling_params": [self.sampling(i) for i in count]}))
        self.answers = list(answers)

    def send_in_a_loop(self) -> None:
        left: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(self.prompts)):
            left.put(index)

        def client(number: int) -> None:
            rng = random.Random(f"{self.options.seed} {number}")
            while True:
                try:
                    index = left.get_nowait()
                except queue.Empty:
                    return
                done = [i for i, answer in enumerate(self.answers) if answer]
                if done and rng.random() < 0.3:
                    earlier = rng.choice(done)
                    turn = self.prompts[earlier] + self.answers[earlier]["output_ids"]
                    if len(turn) < self.options.prompt_tokens:
                        self.prompts[index] = turn + [rng.randrange(10, 30_000) for _ in range(rng.randint(1, 20))]
                body = {"rid": f"r{index}", "input_ids": self.prompts[index], "sampling_params": self.sampling(index)}
                self.answers[index] = json.loads(self.post("/generate", body))

        clients = [threading.Thread(target=client, args=(number,)) for number in range(self.options.in_flight)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()

    def record(self) -> dict[str, Any]:
        self.post("/generate", {"input_ids": [11, 12, 13], "sampling_params": {"max_new_tokens": 1}})
        self.wait_until_idle()
        self.post("/flush_cache", {})
        time.sleep(0.5)
        self.send_at_once() if self.options.mode == "queued" else self.send_in_a_loop()
        events = self.wait_until_idle()
        start = max(number for number, event in enumerate(events) if event[0] == "flush")
        server = {**self.options.server, "kv_tokens": events[start][2], "ignore_eos": self.options.ignore_eos}
        events = events[start + 1 :]
        while events[0][:2] == ["pass", "none"]:
            events.pop(0)
        return {
            "sglang": "0.5.23",
            "server": server,
            "mode": self.options.mode,
            "in_flight": self.options.in_flight if self.options.mode == "closed-loop" else None,
            "requests": [self.request(index) for index in range(len(self.prompts))],
            "events": events,
        }

    def request(self, index: int) -> dict[str, Any]:
        answer = self.answers[index]
        return {
            "id": f"r{index}",
            "input_ids": self.prompts[index],
            "output_ids": answer["output_ids"],
            "cached_tokens": answer["meta_info"]["cached_tokens"],
            "total_retractions": answer["meta_info"].get("num_retractions") or 0,
        }


def main() -> None:
    """Record one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:31100")
    parser.add_argument("--server", type=json.loads, required=True)
    parser.add_argument("--mode", choices=["queued", "closed-loop"], default="closed-loop")
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=48)
    parser.add_argument("--prompt-tokens", type=int, default=300)
    parser.add_argument("--output-tokens", type=int, nargs=2, default=(1, 40))
    parser.add_argument("--ignore-eos", action="store_true")
    options = parser.parse_args()
    with gzip.open(options.out, "wt") as file:
        json.dump(Recorder(options).record(), file)


if __name__ == "__main__":
    main()

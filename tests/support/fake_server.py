"""A small HTTP server for what a healthy model server will not do: it answers as its script says, byte by byte.

It looks like SGLang from outside: `/get_server_info`, `/v1/models`, `/flush_cache`, `/metrics`, `/generate` and
OpenAI's endpoints. It keeps a prefix cache and counters, which a restart sets back.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

__all__ = ["CUT", "HANG", "RESTART", "FakeServer", "fake_server", "healthy", "sse", "token_events"]

#: Steps of a script besides bytes: close the connection here; say nothing more; lose all state and close.
CUT, HANG, RESTART = object(), object(), object()
#: (server, number of the streamed request from 0, its body) → bytes to send, in turn, and the steps above.
Script = Callable[["FakeServer", int, dict[str, Any]], Iterable[Any]]


def sse(data: Any) -> bytes:
    """One event."""
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


@dataclass
class FakeServer:
    """Its state, and what it saw.

    Attributes
    ----------
    script : what streamed requests are answered; the default is a healthy stream.
    info : merged into `/get_server_info`.
    silent_about_cache : as without --enable-cache-report on OpenAI's endpoints.
    not_ready : answers of 503 before the first probe succeeds.
    loading : as SGLang before its model is there: it lists its model and says nothing else.
    bodies : every streamed request, and under "connection" the number of its connection, in order of connecting.
    """

    script: Script
    info: dict[str, Any] = field(default_factory=dict)
    silent_about_cache: bool = False
    not_ready: int = 0
    refuses: int = 0
    can_flush: bool = True
    is_sglang: bool = True
    loading: bool = False
    context_tokens: int = 4096
    bodies: list[dict[str, Any]] = field(default_factory=list)
    probes: int = 0
    flushes: int = 0
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    cache: list[list[int]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=lambda: {"num_requests": 0, "prompt_tokens": 0})
    born: int = field(default_factory=monotonic_ns)
    stop_listening: Callable[[], None] = lambda: None

    def restart(self) -> None:
        """As after a crash: counters at zero, an empty cache, another birth."""
        self.counters = dict.fromkeys(self.counters, 0)
        self.cache.clear()
        self.born = monotonic_ns()

    def cached(self, prompt: list[int]) -> int:
        """Tokens found in the cache, which then holds the prompt."""
        with self.lock:
            longest = max((shared(prompt[:-1], old) for old in self.cache), default=0)
            self.cache.append(prompt)
            self.counters["num_requests"] += 1
            self.counters["prompt_tokens"] += len(prompt)
            return longest


def shared(first: list[int], second: list[int]) -> int:
    pairs = zip(first, second, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def token_events(index: int | None, tokens: int, cached: int | None, finish: Any = "length") -> list[dict[str, Any]]:
    """The events of one healthy answer of /generate."""
    reasons = [None] * (tokens - 1) + [{"type": finish}]
    named = {} if index is None else {"index": index}
    return [
        {
            "output_ids": list(range(n)),
            "meta_info": {
                "completion_tokens": n, "cached_tokens": cached, "finish_reason": reason, "num_retractions": 0,
                "queue_time": 0.0,
            },
            **named,
        }
        for n, reason in enumerate(reasons, start=1)
    ]  # fmt: skip


class _Handler(socketserver.StreamRequestHandler):
    server: _Listener

    def handle(self) -> None:
        line = self.rfile.readline().decode()
        if not line:
            return
        method, path, _ = line.split()
        headers: dict[str, str] = {}
        while (header := self.rfile.readline().strip()) != b"":
            name, _, value = header.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        try:
            self.answer(method, path, json.loads(body) if body else {})
        except (BrokenPipeError, ConnectionResetError):
            return

    def answer(self, method: str, path: str, body: dict[str, Any]) -> None:
        fake = self.server.fake
        if fake.loading and path != "/v1/models":
            self.send(503, "text/plain", b"loading the model")
        elif path == "/get_server_info" and fake.is_sglang:
            known = {
                "version": "fake", "model_path": "nowhere", "max_total_num_tokens": 10_000, "page_size": 1,
                "schedule_policy": "fcfs", "chunked_prefill_size": 8192, "enable_metrics": True,
                "enable_cache_report": True, "random_seed": fake.born,
            }  # fmt: skip
            self.json({**known, **fake.info})
        elif path == "/v1/models":
            self.json({"data": [{"id": "fake-model", "owned_by": "fake", "max_model_len": fake.context_tokens}]})
        elif path == "/metrics":
            lines = [f'sglang:{name}_total{{x="y"}} {value}' for name, value in fake.counters.items()]
            self.send(200, "text/plain", "\n".join(lines).encode())
        elif path in {"/flush_cache", "/reset_prefix_cache"}:
            self.flush()
        elif method == "POST":
            self.tokens(path, body)
        else:
            self.send(404, "text/plain", b"not here")

    def flush(self) -> None:
        fake = self.server.fake
        if not fake.can_flush:
            self.send(404, "text/plain", b"not here")
            return
        fake.flushes += 1
        fake.cache.clear()
        self.send(200, "text/plain", b"Cache flushed.")

    def tokens(self, path: str, body: dict[str, Any]) -> None:
        fake = self.server.fake
        if not body.get("stream"):
            self.probe(path, body)
            return
        if fake.refuses:
            fake.refuses -= 1
            self.send(503, "text/plain", b"busy")
            return
        with fake.lock:
            number = len(fake.bodies)
            fake.bodies.append({**body, "connection": self.server.connections[self.client_address]})
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for step in fake.script(fake, number, body):
            if not self.play(step):
                return

    def play(self, step: Any) -> bool:
        """One step of a script; False ends it."""
        fake = self.server.fake
        if step is RESTART:
            fake.restart()
        if step is CUT or step is RESTART:
            return False
        if step is HANG:
            fake.closing.wait()
            return False
        self.wfile.write(step)
        self.wfile.flush()
        return True

    def probe(self, path: str, body: dict[str, Any]) -> None:
        fake = self.server.fake
        fake.probes += 1
        if fake.probes <= fake.not_ready:
            self.send(503, "text/plain", b"loading the model")
            return
        if path == "/generate":
            cached = fake.cached(body["input_ids"])
            self.json({"output_ids": [0], "meta_info": {"completion_tokens": 1, "cached_tokens": cached}})
        else:
            details = None if fake.silent_about_cache else {"cached_tokens": fake.cached(_ids(body))}
            usage = {"completion_tokens": 1, "prompt_tokens_details": details}
            self.json({"choices": [{"text": "x"}], "usage": usage})

    def json(self, data: Any) -> None:
        self.send(200, "application/json", json.dumps(data).encode())

    def send(self, status: int, kind: str, content: bytes) -> None:
        length = f"Content-Length: {len(content)}\r\nConnection: close"
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{length}\r\n\r\n".encode() + content)


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakeServer
    connections: dict[Any, int]

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections[client_address] = len(self.connections)
        super().process_request(request, client_address)

    def stop_listening(self) -> None:
        """As a killed process: whoever connects is refused."""
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: Any) -> None:
        """A client that went away is no error of the server's."""


def healthy(fake: FakeServer, _: int, body: dict[str, Any]) -> Iterator[bytes]:
    """What was asked for, in whichever protocol."""
    return _generate(fake, body) if "input_ids" in body else _complete(fake, body)


def _generate(fake: FakeServer, body: dict[str, Any]) -> Iterator[bytes]:
    alone = not isinstance(body["input_ids"][0], list)
    prompts = [body["input_ids"]] if alone else body["input_ids"]
    sampling = [body["sampling_params"]] if alone else body["sampling_params"]
    for index, (prompt, asked) in enumerate(zip(prompts, sampling, strict=True)):
        cached = fake.cached(prompt)
        for event in token_events(None if alone else index, asked["max_new_tokens"], cached):
            yield sse(event)
    yield sse("[DONE]")


def _ids(body: dict[str, Any]) -> list[int]:
    """The prompt of a completion or a chat; text by its bytes."""
    prompt = body.get("prompt") or body["messages"][0]["content"]
    return prompt if isinstance(prompt, list) else list(prompt.encode())


def _complete(fake: FakeServer, body: dict[str, Any]) -> Iterator[bytes]:
    cached = fake.cached(_ids(body))
    for _ in range(body["max_tokens"]):
        yield sse({"choices": [{"text": "t"}]})
    details = None if fake.silent_about_cache else {"cached_tokens": cached}
    yield sse({"choices": [], "usage": {"completion_tokens": body["max_tokens"], "prompt_tokens_details": details}})
    yield sse("[DONE]")


@contextmanager
def fake_server(script: Script = healthy, **options: Any) -> Iterator[FakeServer]:
    """A fake server on a free loopback port while the block lasts."""
    fake = FakeServer(script=script, **options)
    with _Listener(("127.0.0.1", 0), _Handler) as listener:
        listener.fake, listener.connections = fake, {}
        fake.stop_listening = listener.stop_listening
        fake.url = f"http://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield fake
        finally:
            fake.closing.set()
            listener.shutdown()
            thread.join()


def unused_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

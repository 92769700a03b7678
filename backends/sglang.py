"""A real SGLang server, one that runs or one that is started for the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from sim.errors import BackendError, ScenarioError
from sim.parameters import STRICT
from sim.realtime import RealTimeEnvironment
from sim.requests import RequestTable

if TYPE_CHECKING:
    from backends._live import LiveBackend

__all__ = ["Sglang"]

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A server of our own.

    Attributes
    ----------
    model_path : what --model-path takes.
    args : further arguments of sglang.launch_server, each a word of its own.
    python : the interpreter of the environment SGLang is installed in.
    env : further environment variables.
    """

    model_path: str
    args: tuple[str, ...] = ()
    python: str = "python3"
    env: dict[str, str] = field(default_factory=dict)

    __pydantic_config__ = STRICT

    def command(self, port: int) -> list[str]:
        """The command line: what exactness needs (first come first served, token ids in, reports), then `args`."""
        needed = ["--schedule-policy", "fcfs", "--skip-tokenizer-init", "--enable-metrics", "--enable-cache-report"]
        where = ["--model-path", self.model_path, "--host", "127.0.0.1", "--port", str(port)]
        return [self.python, "-m", "sglang.launch_server", *where, *needed, *self.args]


@dataclass(frozen=True, kw_only=True)
class Sglang:
    """A real SGLang server: the market on the wall clock, the requests over HTTP.

    Attributes
    ----------
    url : where it listens; or else
    launch : how to start one, which is stopped at the end of the run.
    request_timeout_s : from sending a request to the end of its answer.
    ready_timeout_s : how long a server may take until it answers a prompt.
    retries : further attempts for a request the server did not take; nothing that began is ever repeated.
    vocab_tokens : token ids the model knows; null = as its config.json says where that lies on this machine, else
        32000. Prompts with other ids are sent as made-up tokens that share the same prefixes.
    api_key_env : the environment variable that holds the server's key; null = it wants none.
    """

    url: str | None = None
    launch: Launch | None = None
    request_timeout_s: Seconds = 600.0
    ready_timeout_s: Seconds = 300.0
    retries: Annotated[int, Field(ge=0)] = 2
    vocab_tokens: Annotated[int, Field(ge=512)] | None = None
    api_key_env: str | None = None

    def __post_init__(self) -> None:
        if (self.url is None) == (self.launch is None):
            found = "neither url nor launch" if self.url is None else "both url and launch"
            raise ScenarioError("url", found, "one of them", "Give the server's address with --url http://HOST:PORT.")

    @contextmanager
    def open(self) -> Iterator[Sglang]:
        """Start the server if it is ours to start; it is stopped by its process id when the run ends."""
        if self.launch is None:
            yield self
            return
        from backends._control import Control
        from backends._launch import free_port, server_process
        from backends._sglang_server import one_token

        port = free_port()
        control = Control(f"http://127.0.0.1:{port}")
        with server_process(self.launch.command(port), self.launch.env) as server:
            try:
                control.wait_until(lambda: one_token(control, [1]), self.ready_timeout_s, server.check)
            except BackendError as error:
                raise BackendError(f"{error}\nThe end of the server's log:\n{server.log_tail()}") from error
            yield replace(self, url=control.url, launch=None)

    def environment(self) -> RealTimeEnvironment:
        """Real time."""
        return RealTimeEnvironment()

    def card(self) -> dict[str, Any] | None:
        """No profile: latencies are measured."""
        return None

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> LiveBackend:  # noqa: ARG002
        """A client of the running server, whose cache it empties first."""
        from backends._client import ClientSettings
        from backends._control import Control, authorization
        from backends._live import LiveBackend
        from backends._sglang_server import SglangServer

        assert self.url is not None
        headers = authorization(self.api_key_env)
        server = SglangServer(Control(self.url, headers), requests, self.ready_timeout_s, self.vocab_tokens)
        settings = ClientSettings(url=self.url, headers=headers, timeout_s=self.request_timeout_s, retries=self.retries)
        return LiveBackend(server, settings)

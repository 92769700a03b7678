"""Any server that speaks OpenAI's protocol, such as vLLM."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zlib import crc32

from pydantic import Field

from sim.backend import Limits
from sim.errors import ScenarioError
from sim.realtime import RealTimeEnvironment
from sim.requests import RequestTable

if TYPE_CHECKING:
    from backends._live import LiveBackend

__all__ = ["Openai"]

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, kw_only=True)
class Openai:
    """A running server with OpenAI's `/v1/completions` (or chat).

    Its order of execution cannot be proved: the protocol has no time of the server's in it.

    Attributes
    ----------
    url : where it listens, without /v1.
    model : the model's name; null = the first one it names.
    endpoint : completions, or chat (which needs prompts as text).
    prompts : how prompts are sent, tokens (ids) or text (a word a token).
    kv_tokens : capacity of its KV cache, tokens, which it does not say; null = unknown, nothing is refused for it.
    page_tokens : tokens per KV page.
    context_tokens : longest prompt + output; null = as the server says.
    request_timeout_s : from sending a request to the end of its answer.
    ready_timeout_s : how long the server may take until it answers a prompt.
    retries : further attempts for a request the server did not take; nothing that began is ever repeated.
    vocab_tokens : token ids the model knows.
    api_key_env : the environment variable that holds the server's key; null = it wants none.
    """

    url: str
    model: str | None = None
    endpoint: Literal["completions", "chat"] = "completions"
    prompts: Literal["tokens", "text"] = "tokens"
    kv_tokens: Count | None = None
    page_tokens: Count = 1
    context_tokens: Count | None = None
    request_timeout_s: Seconds = 600.0
    ready_timeout_s: Seconds = 300.0
    retries: Annotated[int, Field(ge=0)] = 2
    vocab_tokens: Annotated[int, Field(ge=512)] = 32_000
    api_key_env: str | None = None

    def __post_init__(self) -> None:
        if self.endpoint == "chat" and self.prompts == "tokens":
            raise ScenarioError("prompts", "tokens", "text", "A chat takes words, not token ids.")

    def open(self) -> AbstractContextManager[Openai]:
        """The server runs already."""
        return nullcontext(self)

    def environment(self) -> RealTimeEnvironment:
        """Real time."""
        return RealTimeEnvironment()

    def card(self) -> dict[str, Any] | None:
        """No profile: latencies are measured."""
        return None

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> LiveBackend:
        """A client of the running server, whose cache it empties first or avoids."""
        from backends._client import ClientSettings
        from backends._control import Control, authorization
        from backends._live import LiveBackend
        from backends._openai_server import OpenaiServer

        headers = authorization(self.api_key_env)
        server = OpenaiServer(
            control=Control(self.url, headers),
            requests=requests,
            model=self.model,
            endpoint=self.endpoint,
            as_text=self.prompts == "text",
            limits=Limits(kv_tokens=self.kv_tokens, page_tokens=self.page_tokens, context_tokens=self.context_tokens),
            ready_timeout_s=self.ready_timeout_s,
            vocab_tokens=self.vocab_tokens,
            salt=crc32(f"{schedule}/{trial}".encode()),
        )
        settings = ClientSettings(url=self.url, headers=headers, timeout_s=self.request_timeout_s, retries=self.retries)
        return LiveBackend(server, settings)

"""Servers that speak OpenAI's protocol (vLLM and others): completions or chat, streamed, with usage at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from backends._answers import Answer, ServerSaidError
from backends._control import FAREWELL_S, Control
from backends._prompt_tokens import PromptTokens
from sim.backend import Limits, Notes
from sim.errors import BackendError
from sim.requests import RequestTable

__all__ = ["Endpoint", "OpenaiDialect", "OpenaiServer"]

Endpoint = Literal["completions", "chat"]
#: A server that works answers a one-token prompt within this time, s.
PROBE_S = 30.0
#: Where a chat server puts what it thinks before it answers.
REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How a prompt is put: the model's name, the endpoint, and as token ids or as text."""

    model: str
    endpoint: Endpoint
    as_text: bool

    @property
    def path(self) -> str:
        """Where requests are posted."""
        return "/v1/completions" if self.endpoint == "completions" else "/v1/chat/completions"

    def body(self, prompt: Sequence[int], output_tokens: int) -> dict[str, Any]:
        """The JSON for one prompt; text is one word a token."""
        words: str | list[int] = " ".join(f"t{token}" for token in prompt) if self.as_text else list(prompt)
        asked = (
            {"prompt": words} if self.endpoint == "completions" else {"messages": [{"role": "user", "content": words}]}
        )
        return {"model": self.model, **asked, "max_tokens": output_tokens, "temperature": 0, "ignore_eos": True}


class OpenaiDialect:
    """One post a request; the answer is whole when the server says [DONE]."""

    grouped = False

    def __init__(self, asking: Asking, tokens: PromptTokens, output_tokens: Sequence[int]) -> None:
        self.path = asking.path
        self._asking, self._tokens, self._output_tokens = asking, tokens, output_tokens

    def body(self, requests: Sequence[int]) -> dict[str, Any]:
        """One prompt, streamed, with usage in the last event."""
        (index,) = requests
        asked = self._asking.body(self._tokens.of(index), int(self._output_tokens[index]))
        return {**asked, "stream": True, "stream_options": {"include_usage": True}}

    def read(self, event: dict[str, Any], answers: Sequence[Answer], at_ns: int) -> Sequence[Answer]:
        """A piece of text, a piece of reasoning, a role without either, or the usage."""
        (answer,) = answers
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise ServerSaidError(f"an event without what OpenAI's protocol promises: {str(event)[:120]}")
        for choice in choices:
            delta = choice.get("delta") or {}
            content = choice.get("text") or delta.get("content")
            if content or any(delta.get(name) for name in REASONING):
                answer.saw_token(at_ns)
                answer.output_tokens += 1
            if content and answer.first_content_ns is None:
                answer.first_content_ns = at_ns
        usage = event.get("usage")
        if usage:
            answer.output_tokens = usage.get("completion_tokens", answer.output_tokens)
            answer.cached_tokens = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        return (answer,)

    def end(self, answers: Sequence[Answer], at_ns: int) -> None:
        """The answer is whole."""
        for answer in answers:
            answer.end(at_ns)


@dataclass(frozen=True, kw_only=True)
class OpenaiServer:
    """One trial's view of a server (see `backends._live.LiveServer`).

    Attributes
    ----------
    model : None = the first one the server names.
    limits : what the user says of the server, which does not say it itself.
    salt : makes this run's prompts unlike any other run's where the cache cannot be emptied.
    """

    control: Control
    requests: RequestTable
    model: str | None
    endpoint: Endpoint
    as_text: bool
    limits: Limits
    ready_timeout_s: float
    vocab_tokens: int
    salt: int

    def prepare(self, notes: Notes) -> tuple[OpenaiDialect, Limits]:
        """A one-token reply, then an empty cache, or else prompts it cannot hold."""
        control = self.control
        control.wait_until(self._one_token, self.ready_timeout_s)
        emptied = self._empty_cache()
        tokens = PromptTokens(self.requests.prompts, self.vocab_tokens, None if emptied else self.salt)
        named = self._first_model()
        context = self.limits.context_tokens or named.get("max_model_len")
        limits = Limits(kv_tokens=self.limits.kv_tokens, page_tokens=self.limits.page_tokens, context_tokens=context)
        asking = self._asking()
        notes.facts = {
            "engine": str(named.get("owned_by", "unknown")),
            "url": control.url,
            "model": asking.model,
            "endpoint": asking.path,
            "kv_tokens": limits.kv_tokens,
            "prompt_ids": "own" if tokens.recorded else "made up",
            "cache": "emptied before the run" if emptied else "not emptied: every run has prompts of its own",
        }
        return OpenaiDialect(asking, tokens, self.requests.output_tokens.tolist()), limits

    def conclude(self, notes: Notes, answers: Sequence[Answer]) -> None:
        """Did it report what it had cached? Is it still there?"""
        whole = [answer for answer in answers if answer.finish_ns is not None]
        silent = sum(answer.cached_tokens is None for answer in whole)
        notes.checks = {"cached_tokens_reported": len(whole) - silent, "answers": len(whole)}
        if silent:
            notes.warnings.append(
                f"{silent} of {len(whole)} answers did not say how many tokens were cached: start SGLang with "
                "--enable-cache-report, vLLM with --enable-prompt-tokens-details. Not reported is not 0."
            )
        try:
            self.control.get("/v1/models", FAREWELL_S)
        except BackendError as error:
            notes.invalid = f"the server does not answer any more: {error}"

    def _first_model(self) -> dict[str, Any]:
        models = self.control.get("/v1/models").get("data") or []
        if not models:
            raise BackendError(f"{self.control.url}/v1/models names no model. Is it still loading one?")
        first: dict[str, Any] = models[0]
        return first

    def _asking(self) -> Asking:
        model = self.model or str(self._first_model()["id"])
        return Asking(model=model, endpoint=self.endpoint, as_text=self.as_text)

    def _one_token(self) -> None:
        asking = self._asking()
        answer = self.control.post(asking.path, asking.body([1], 1), PROBE_S)
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not choices:
            raise BackendError(f"{self.control.url}{asking.path} answered without a token: {str(answer)[:200]}")

    def _empty_cache(self) -> bool:
        """SGLang's way, then vLLM's (which it offers in its developer mode only)."""
        for path in ("/flush_cache", "/reset_prefix_cache"):
            try:
                self.control.tell(path)
            except BackendError:
                continue
            return True
        return False

"""What is this server, and can it do what exact measurements need? Asks it, and does not believe what can be tried."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from backends._client import ClientSettings
from backends._control import Control, NoSuchPathError, authorization
from backends._live import inversions
from backends._sglang_probe import Ask, ask_all
from backends._sglang_server import one_token, server_facts, vocab_of
from sim.errors import BackendError

__all__ = ["Diagnosis", "examine"]

#: Requests with which the order is tried, as a list and then one socket each.
ORDER_PROBES = 48
#: Longest prompt sent to see a cache hit.
CACHE_PROBE_TOKENS = 64
#: A whole probe may take this long, s.
PROBE_S = 120.0
#: SGLang's own words for what exact runs need; a server that lacks one is told to add it.
NEEDED = {
    "enable_metrics": ("--enable-metrics", "order and restarts can be proved"),
    "enable_cache_report": ("--enable-cache-report", "OpenAI's endpoints report cached tokens"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found. None = could not be found out.

    Attributes
    ----------
    facts : engine, version, model, KV capacity, page size, policy, chunk size, as the server says.
    cached_tokens : what it reported for one prompt sent twice: {"first", "second"}.
    order : by kind of submission ("list", "sockets"), how many requests were dated and how many inverted.
    priority : {"works", "direction"}; direction is "larger first" or "smaller first".
    missing : (flag, what it is for).
    command : a command line with everything that is needed, to copy.
    """

    url: str
    facts: dict[str, Any]
    cached_tokens: dict[str, int | None] | None = None
    order: dict[str, dict[str, int]] | None = None
    priority: dict[str, Any] | None = None
    missing: list[tuple[str, str]] = field(default_factory=list)
    command: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        second = (self.cached_tokens or {}).get("second")
        return {
            "url": self.url,
            "ready": True,
            **self.facts,
            "cached_tokens": self.cached_tokens and {**self.cached_tokens, "reported": bool(second)},
            "order": self.order,
            "priority": self.priority,
            "missing": [{"flag": flag, "purpose": purpose} for flag, purpose in self.missing],
            "command": self.command,
        }


def examine(url: str, api_key_env: str | None = None, progress: Callable[[str], None] = lambda _: None) -> Diagnosis:
    """Examine the server at `url`; it should have nothing else to do meanwhile.

    Raises
    ------
    BackendError
        It does not answer.
    """
    headers = authorization(api_key_env)
    control = Control(url, headers)
    progress("is it there?")
    try:
        info = control.get("/get_server_info")
    except NoSuchPathError:
        return _examine_openai(control)
    one_token(control, [1])
    sglang = _Sglang(control, ClientSettings(url=url, headers=headers, timeout_s=PROBE_S, retries=0), info)
    progress("does it report cached tokens?")
    cached = sglang.cached_tokens()
    progress("does it keep the order?")
    order = sglang.order()
    progress("does priority work?")
    priority = sglang.priority()
    return Diagnosis(
        url=control.url,
        facts={**server_facts(info), "context_tokens": sglang.context},
        cached_tokens=cached,
        order=order,
        priority=priority,
        missing=_missing(info),
        command=_command(info),
    )


class _Sglang:
    """The trials on a SGLang server; every prompt is new."""

    def __init__(self, control: Control, settings: ClientSettings, info: dict[str, Any]) -> None:
        self._control, self._settings, self._info = control, settings, info
        self._rng, self._vocab = random.Random(), vocab_of(info, None)
        models = control.get("/v1/models").get("data") or [{}]
        self.context: int | None = models[0].get("max_model_len")
        self._room = min(info["max_total_num_tokens"], self.context or info["max_total_num_tokens"])

    def cached_tokens(self) -> dict[str, int | None]:
        """One prompt twice."""
        prompt = self._prompt(min(CACHE_PROBE_TOKENS, self._room // 2))
        first, second = (one_token(self._control, prompt)["meta_info"].get("cached_tokens") for _ in range(2))
        return {"first": first, "second": second}

    def order(self) -> dict[str, dict[str, int]]:
        """Many at once as a list, then many as fast as sockets can be written."""
        found = {}
        for name, together in (("list", True), ("sockets", False)):
            asks = [Ask(prompt=self._prompt(8)) for _ in range(ORDER_PROBES)]
            wrong, dated = inversions(ask_all(self._settings, asks, together=together))
            found[name] = {"dated": dated, "inversions": wrong}
        return found

    def priority(self) -> dict[str, Any]:
        """Two requests wait behind a third that leaves no room for them: whose first token comes first?

        Each needs more than half the cache or a whole prefill pass, so they are served one after the other.
        """
        overtakes = {larger: self._later_overtakes(larger) for larger in (True, False)}
        direction = {(True, False): "larger first", (False, True): "smaller first"}.get(
            (overtakes[True], overtakes[False])
        )
        return {"works": direction is not None, "direction": direction}

    def _later_overtakes(self, larger: bool) -> bool:
        chunk = self._info.get("chunked_prefill_size") or 0
        alone = int(self._room * 0.55)
        length = min(alone, chunk) if chunk > 0 else alone
        blocker = Ask(prompt=self._prompt(min(alone, 4 * length)), output_tokens=min(32, self._room // 16 + 1))
        first, second = (1, 2) if larger else (2, 1)
        rivals = [Ask(prompt=self._prompt(length), priority=priority) for priority in (first, second)]
        _, earlier, later = ask_all(self._settings, [blocker, *rivals])
        assert earlier.first_token_ns is not None
        assert later.first_token_ns is not None
        return later.first_token_ns < earlier.first_token_ns

    def _prompt(self, tokens: int) -> list[int]:
        return [self._rng.randrange(256, self._vocab) for _ in range(tokens)]


def _examine_openai(control: Control) -> Diagnosis:
    """What the protocol alone can tell."""
    models = control.get("/v1/models").get("data") or [{}]
    model = models[0]
    prompt = " ".join(f"t{random.randrange(10**6)}" for _ in range(4 * CACHE_PROBE_TOKENS))
    body = {"model": model.get("id"), "prompt": prompt, "max_tokens": 1, "temperature": 0}
    usages = [control.post("/v1/completions", body, PROBE_S).get("usage") or {} for _ in range(2)]
    first, second = ((usage.get("prompt_tokens_details") or {}).get("cached_tokens") for usage in usages)
    reports = bool(second)
    flag = ("--enable-prompt-tokens-details (vLLM)", "cached tokens are reported")
    return Diagnosis(
        url=control.url,
        facts={
            "engine": model.get("owned_by"),
            "version": _vllm_version(control),
            "model": model.get("id"),
            "kv_tokens": None,
            "context_tokens": model.get("max_model_len"),
        },
        cached_tokens={"first": first, "second": second},
        missing=[] if reports else [flag],
    )


def _vllm_version(control: Control) -> str | None:
    try:
        version: str | None = control.get("/version").get("version")
    except BackendError:
        return None
    return version


def _missing(info: dict[str, Any]) -> list[tuple[str, str]]:
    missing = [needed for name, needed in NEEDED.items() if not info.get(name)]
    if info.get("schedule_policy") != "fcfs":
        missing.append(("--schedule-policy fcfs", "it serves in the order in which requests come"))
    return missing


def _command(info: dict[str, Any]) -> str | None:
    """The command it was started with, as far as it says, and what is missing; None if nothing is."""
    missing = [flag for flag, _ in _missing(info)]
    if not missing:
        return None
    given = info.get("launch_command")
    if not given:
        given = f"--model-path {shlex.quote(str(info.get('model_path')))} --port {info.get('port', 30000)}"
    return " ".join(["python -m sglang.launch_server", given, *missing])

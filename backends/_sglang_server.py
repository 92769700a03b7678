"""SGLang over HTTP: its `/generate` stream, and what a run needs to know of the server before and after."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from backends._answers import Answer, ServerSaidError
from backends._control import ANSWER_S, FAREWELL_S, Control, counters
from backends._front_end_times import front_end_times
from backends._live import inversions
from backends._prompt_tokens import PromptTokens
from sim.backend import Limits, Notes
from sim.errors import BackendError
from sim.requests import RequestTable

__all__ = ["GenerateDialect", "SglangServer", "one_token", "server_facts", "vocab_of"]

#: A server that works answers a one-token prompt within this time, s.
PROBE_S = 30.0
#: Token ids every usual model knows, where nobody says how many it has.
COMMON_VOCAB = 32_000
#: When a request reached the scheduler, by version and kind of submission: the first that is there counts.
ENTERED = ("request_sent_to_scheduler_ts", "api_server_dispatch_finish_ts", "request_received_ts")
#: When the scheduler had a request's first token, by version.
PREFILLED = ("prefill_finished_time", "prefill_finished_ts")
COUNTERS = ("sglang:num_requests_total", "sglang:prompt_tokens_total", "sglang:cached_tokens_total")


class GenerateDialect:
    """`POST /generate` with token ids, streamed; a list of prompts enters the server's queue in its order.

    Parameters
    ----------
    prompt : the tokens of a request.
    output_tokens : how many each generates, whatever it says.
    """

    path, grouped = "/generate", True

    def __init__(self, prompt: Callable[[int], list[int]], output_tokens: Sequence[int]) -> None:
        self._prompt, self._output_tokens = prompt, output_tokens

    def body(self, requests: Sequence[int]) -> dict[str, Any]:
        """A list where there are several; alone, the server dates its entry more exactly."""
        prompts = [self._prompt(index) for index in requests]
        sampling = [
            {"max_new_tokens": int(self._output_tokens[index]), "ignore_eos": True, "temperature": 0}
            for index in requests
        ]
        if len(prompts) == 1:
            return {"input_ids": prompts[0], "sampling_params": sampling[0], "stream": True}
        return {"input_ids": prompts, "sampling_params": sampling, "stream": True}

    def read(self, event: dict[str, Any], answers: Sequence[Answer], at_ns: int) -> Sequence[Answer]:
        """One more token of one request, with everything the server knows about it."""
        try:
            answer, meta = answers[event.get("index", 0)], event["meta_info"]
            tokens, ids = int(meta["completion_tokens"]), event.get("output_ids")
        except (KeyError, IndexError, TypeError) as error:
            raise ServerSaidError(f"an event without what /generate promises: {str(event)[:120]}") from error
        if tokens:
            answer.saw_token(at_ns)
        answer.output_tokens = tokens
        if ids is not None:  # all so far, or with --incremental-streaming-output the new ones
            answer.output_ids = tuple(ids) if len(ids) == tokens else (answer.output_ids or ()) + tuple(ids)
        answer.cached_tokens = meta.get("cached_tokens", answer.cached_tokens)
        answer.num_retractions = meta.get("num_retractions", meta.get("total_retractions", 0))
        answer.queued_s = meta.get("queue_time", answer.queued_s)
        reason = meta.get("finish_reason")
        if reason is not None:
            answer.entered_s = next((meta[name] for name in ENTERED if meta.get(name)), None)
            answer.prefilled_s = next((meta[name] for name in PREFILLED if meta.get(name)), None)
            kind = reason.get("type") if isinstance(reason, dict) else reason
            if kind == "abort":
                answer.fail(f"the server gave it up: {reason.get('message', 'no reason given')}")
            else:
                answer.end(at_ns)
        return (answer,)

    def end(self, answers: Sequence[Answer], at_ns: int) -> None:
        """Each answer has ended with its own finish reason; one that has not is incomplete."""


class SglangServer:
    """One trial's view of a running SGLang (see `backends._live.LiveServer`)."""

    def __init__(self, control: Control, requests: RequestTable, ready_timeout_s: float, vocab: int | None) -> None:
        self._control, self._requests = control, requests
        self._ready_timeout_s, self._vocab = ready_timeout_s, vocab

    def prepare(self, notes: Notes) -> tuple[GenerateDialect, Limits]:
        """A one-token reply to a prompt that starts like none of ours, then an empty cache."""
        control, requests = self._control, self._requests
        control.wait_until(lambda: control.get("/get_server_info"), self._ready_timeout_s)
        info = control.get("/get_server_info")
        tokens = PromptTokens(requests.prompts, vocab_of(info, self._vocab))
        control.wait_until(lambda: one_token(control, tokens.unused(1) or [1]), self._ready_timeout_s)
        notes.facts = {**server_facts(info), "url": control.url, "prompt_ids": "own" if tokens.recorded else "made up"}
        if tokens.accidents:
            notes.warnings.append(
                f"{tokens.accidents} prompts share their first token by accident: they differ in more tokens than "
                "the model has (backend.vocab_tokens)."
            )
        notes.warnings += [f"The server {problem}." for problem in problems(info)]
        control.wait_until(lambda: control.tell("/flush_cache"), self._ready_timeout_s)
        self._before, self._born = self._counters(info), _birth(info)
        limits = Limits(
            kv_tokens=info["max_total_num_tokens"],
            page_tokens=info.get("page_size") or 1,
            context_tokens=self._context_tokens(info),
        )
        return GenerateDialect(tokens.of, requests.output_tokens.tolist()), limits

    def conclude(self, notes: Notes, answers: Sequence[Answer]) -> None:
        """Was it one server all the time, did it keep the order, was it ours alone, and how far away is it?"""
        wrong, dated = inversions(answers)
        notes.checks = {"order": {"dated": dated, "inversions": wrong}, "front_end": front_end_times(answers)}
        if wrong:
            notes.warnings.append(
                f"The server took {wrong} of {dated} requests out of the order in which they were submitted."
            )
        try:
            info = self._control.get("/get_server_info", FAREWELL_S)
            after = self._counters(info, FAREWELL_S)
        except BackendError as error:
            notes.invalid = f"the server does not answer any more: {error}"
            return
        delta = {name: after.get(name, 0.0) - self._before.get(name, 0.0) for name in after | self._before}
        notes.checks["counters"] = delta
        if _birth(info) != self._born or any(change < 0 for change in delta.values()):
            notes.invalid = "the server was restarted during the run: it is another one now, its counters went back"
        strangers = round(delta.get(COUNTERS[0], 0.0)) - len(answers)
        if strangers > 0:
            notes.warnings.append(f"Somebody else sent {strangers} requests to the server during the run.")

    def _counters(self, info: dict[str, Any], timeout_s: float = ANSWER_S) -> dict[str, float]:
        if not info.get("enable_metrics"):
            return {}
        return counters(self._control.text("/metrics", timeout_s), COUNTERS)

    def _context_tokens(self, info: dict[str, Any]) -> int | None:
        models = self._control.get("/v1/models").get("data") or [{}]
        context: int | None = models[0].get("max_model_len") or info.get("context_length")
        return context


def one_token(control: Control, prompt: Sequence[int]) -> dict[str, Any]:
    """The server's answer to one prompt with one token; BackendError if there is none in it."""
    sampling = {"max_new_tokens": 1, "ignore_eos": True, "temperature": 0}
    answer = control.post("/generate", {"input_ids": list(prompt), "sampling_params": sampling}, PROBE_S)
    if not isinstance(answer, dict) or not answer.get("meta_info", {}).get("completion_tokens"):
        raise BackendError(f"{control.url}/generate answered without a token: {str(answer)[:200]}")
    return answer


def server_facts(info: dict[str, Any]) -> dict[str, Any]:
    """What a server says of itself, under our names; chunking that is off is None."""
    chunk = info.get("chunked_prefill_size")
    return {
        "engine": "sglang",
        "version": info.get("version"),
        "model": info.get("model_path"),
        "kv_tokens": info.get("max_total_num_tokens"),
        "page_tokens": info.get("page_size"),
        "schedule_policy": info.get("schedule_policy"),
        "eviction": info.get("radix_eviction_policy"),
        "chunked_prefill_tokens": chunk if chunk and chunk > 0 else None,
        "max_prefill_tokens": info.get("max_prefill_tokens"),
        "max_running_requests": info.get("max_running_requests"),
        "schedule_conservativeness": info.get("schedule_conservativeness"),
        "overlap": not info.get("disable_overlap_schedule", False),
        "device": info.get("device"),
    }


def problems(info: dict[str, Any]) -> list[str]:
    """What about a server's settings makes a run mean something else, as ends of a sentence."""
    found = []
    if info.get("schedule_policy") != "fcfs":
        found.append(f"reorders its queue by {info.get('schedule_policy')}: start it with --schedule-policy fcfs")
    if info.get("disable_radix_cache"):
        found.append("has no prefix cache: start it without --disable-radix-cache")
    if not info.get("enable_metrics"):
        found.append("has no metrics: start it with --enable-metrics, or neither order nor a restart can be proved")
    if (info.get("dp_size") or 1) > 1:
        found.append("spreads requests over several caches: start it without --dp-size")
    return found


def vocab_of(info: dict[str, Any], stated: int | None) -> int:
    """Token ids the model knows: as stated, as its config.json says where that lies on this machine, or few."""
    if stated is not None:
        return stated
    config = Path(str(info.get("model_path"))) / "config.json"
    if not config.is_file():
        return COMMON_VOCAB
    data = json.loads(config.read_text(encoding="utf-8"))
    size: int = data.get("vocab_size") or data.get("text_config", {}).get("vocab_size") or COMMON_VOCAB
    return size


def _birth(info: dict[str, Any]) -> Any:
    """What differs between two starts of the same server."""
    return info.get("random_seed"), info.get("startup_time")

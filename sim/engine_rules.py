"""Whose rules the engine follows: what SGLang versions decide differently, one named rule each.

The engine never asks for a version, only for a rule. A further version is one more row of `RULES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sim.errors import ScenarioError, did_you_mean

__all__ = ["CLIPPED_NEW_TOKENS", "RULES", "EngineRules", "rules_of"]

#: At most this much of a request's remaining output is reserved at admission.
CLIPPED_NEW_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRules:
    """One version's choices; everything the versions share is in the engine itself.

    Attributes
    ----------
    evict : what eviction frees when fewer than `need` slots are free, "need" or only the "shortfall".
    prompt_boundary : an insert longer than the prompt is followed by one of the prompt alone, one priority higher:
        outputs can be evicted without their prompt.
    counts_hits : inserts count how often a node was used (what lfu sorts by; a count nobody raises makes it lru).
    split_keeps_creation : the upper half of a split node is as old as the lower (what fifo and filo sort by).
    waiting_prefix_refresh : every 32nd admission attempt, the first 128 waiting requests are matched, last first.
    reserves_whole_output : running requests that ignore EOS reserve all their output, not new_token_ratio of it.
    page_per_request : admission demands and reserves one page more for every request.
    refuses_before_lock : admission also checks the budget before the matched prefix is locked.
    prefill_limit_with_chunks : max_prefill_tokens refuses a request although chunked prefill could cut it.
    stops_when_spent : a pass whose prefill budget is spent does not match the next waiting request any more.
    chunk_waits_for_slot : at max_running_requests the chunked request is held back, and only it.
    filters_before_prefill : finished requests leave before admission is tried, not before the next decode pass.
    opens_when_empty : an engine that runs nothing tries admission again whatever it decided before.
    refusal_closes_idle : NO_TOKEN closes admission even when nothing runs and nothing was admitted.
    skips_finishing : with overlap, requests that end with the pending result are left out of the next decode pass.
    resets_ratio_with_queue : a pass that runs nothing resets new_token_ratio even while requests wait.
    output_cap : what max_new_tokens is capped by, the model's "context" or also the KV "memory".
    caps_sort_key : lpm sorts by at most prompt − 1 matched tokens.
    keeps_preempted : a preempted request goes back to the queue also when nothing was admitted in its place.
    """

    evict: Literal["need", "shortfall"]
    prompt_boundary: bool
    counts_hits: bool
    split_keeps_creation: bool
    waiting_prefix_refresh: bool
    reserves_whole_output: bool
    page_per_request: bool
    refuses_before_lock: bool
    prefill_limit_with_chunks: bool
    stops_when_spent: bool
    chunk_waits_for_slot: bool
    filters_before_prefill: bool
    opens_when_empty: bool
    refusal_closes_idle: bool
    skips_finishing: bool
    resets_ratio_with_queue: bool
    output_cap: Literal["context", "memory"]
    caps_sort_key: bool
    keeps_preempted: bool

    def max_new_tokens(self, prompt: int, output: int, kv_tokens: int | None, page: int, context: int | None) -> int:
        """The output a request of `prompt` tokens may reserve when it asks for `output`; 0 still yields one token."""
        caps = [output]
        if context is not None:
            caps.append(context - prompt - 2)
        if kv_tokens is not None:
            caps.append(kv_tokens - prompt - 2)
            if self.output_cap == "memory":
                caps.append(kv_tokens - -(-prompt // page) * page - page - 1)
        return max(0, min(caps))


RULES: dict[str, EngineRules] = {
    "0.5.9": EngineRules(
        evict="need",
        prompt_boundary=False,
        counts_hits=False,
        split_keeps_creation=False,
        waiting_prefix_refresh=False,
        reserves_whole_output=False,
        page_per_request=False,
        refuses_before_lock=True,
        prefill_limit_with_chunks=True,
        stops_when_spent=False,
        chunk_waits_for_slot=True,
        filters_before_prefill=False,
        opens_when_empty=False,
        refusal_closes_idle=True,
        skips_finishing=False,
        resets_ratio_with_queue=True,
        output_cap="context",
        caps_sort_key=False,
        keeps_preempted=False,
    ),
    "0.5.23": EngineRules(
        evict="shortfall",
        prompt_boundary=True,
        counts_hits=True,
        split_keeps_creation=True,
        waiting_prefix_refresh=True,
        reserves_whole_output=True,
        page_per_request=True,
        refuses_before_lock=False,
        prefill_limit_with_chunks=False,
        stops_when_spent=True,
        chunk_waits_for_slot=False,
        filters_before_prefill=True,
        opens_when_empty=True,
        refusal_closes_idle=False,
        skips_finishing=True,
        resets_ratio_with_queue=False,
        output_cap="memory",
        caps_sort_key=True,
        keeps_preempted=True,
    ),
}


def rules_of(engine: str) -> EngineRules:
    """The rules of an SGLang version; ScenarioError for one nobody wrote down."""
    if engine not in RULES:
        known = ", ".join(RULES)
        raise ScenarioError("backend.engine", f'"{engine}"', f"one of {known}", did_you_mean(engine, RULES))
    return RULES[engine]

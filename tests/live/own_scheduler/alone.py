"""SGLang 0.5.23's own scheduler, pass by pass, without a model: an oracle for what a server would decide.

    .venv-sglang-0.5.23/bin/python tests/live/own_scheduler/alone.py tests/golden/sglang-0.5.23/*.json.gz

Runs in the environment of `make sglang-cpu`. Queue, order, admission, preemption, retraction, batches, allocator and
cache are the released ones; only the loop around them, the arrivals and the results (recorded or drawn tokens) are
ours. Run as above it gets the arrivals of recordings of a whole server, and says which it does not reproduce.
"""

# ruff: noqa: E402 - the environment and torch have to be prepared before SGLang is imported
from __future__ import annotations

import gzip
import json
import logging
import os
import sys
from array import array
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ |= {"SGLANG_USE_CPU_ENGINE": "1", "TORCHDYNAMO_DISABLE": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
import torch

torch.compile = lambda *args, **_: args[0] if args and callable(args[0]) else lambda function: function

from sglang.srt.disaggregation.utils import DisaggregationMode
from sglang.srt.managers.schedule_batch import Req, ScheduleBatch
from sglang.srt.managers.schedule_policy import PrefillAdder, SchedulePolicy
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.new_token_ratio_tracker import NewTokenRatioTracker
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.common import checkpoint_kv_cache, release_kv_cache
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.registry import create_tree_cache
from sglang.srt.runtime_context import publish
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import ServerArgs
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

CONTEXT, VOCABULARY = 4096, 32_000
MODEL = Path(__file__).parents[1] / "tiny-llama"


class BatchOrder(PrefillAdder):
    """Of several requests preempted at once, whose order is that of a `set`: the order of the batch."""

    def preempt_to_schedule(self, req: Any) -> bool:
        before, known = list(self.running_batch.reqs), len(self.preempt_list)
        done: bool = super().preempt_to_schedule(req)
        self.preempt_list[known:] = sorted(self.preempt_list[known:], key=before.index)
        return done


class Bare:
    """A scheduler with only the attributes set here; its methods are SGLang's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(Scheduler, name).__get__(self)


def server_args(server: dict[str, Any]) -> ServerArgs:
    """Our names for a server's settings as its own."""
    threshold = server.get("preemption_threshold")
    return ServerArgs(
        model_path=str(MODEL), load_format="dummy", device="cpu", dtype="float32", skip_tokenizer_init=True,
        attention_backend="torch_native", sampling_backend="pytorch", disable_cuda_graph=True,
        schedule_policy=server["schedule_policy"],
        radix_eviction_policy=server.get("eviction", "lru"),
        chunked_prefill_size=server["chunked_prefill_tokens"] or -1,
        page_size=server["page_tokens"],
        disable_overlap_schedule=not server["overlap"],
        schedule_conservativeness=server["schedule_conservativeness"],
        pp_max_micro_batch_size=server.get("max_running_requests") or 2048,
        enable_priority_scheduling=server.get("priority_scheduling", False),
        disable_priority_preemption=server.get("priority_scheduling", False) and threshold is None,
        priority_scheduling_preemption_threshold=10 if threshold is None else threshold,
    )  # fmt: skip


def memory(server: dict[str, Any], slots: int) -> tuple[Any, Any, Any]:
    """The request table, the allocator and the cache of a server."""
    page = server["page_tokens"]
    size = server["kv_tokens"] // page * page
    rows = ReqToTokenPool(size=slots, max_context_len=CONTEXT, device="cpu", enable_memory_saver=False)
    pool = SimpleNamespace(size=size, page_size=page, device="cpu")
    kind, paged = (TokenToKVPoolAllocator, ()) if page == 1 else (PagedTokenToKVPoolAllocator, (page,))
    allocator = kind(size, *paged, torch.float32, "cpu", pool, False)
    params = CacheInitParams(
        disable=False,
        req_to_token_pool=rows,
        token_to_kv_pool_allocator=allocator,
        page_size=page,
        eviction_policy=server.get("eviction", "lru"),
        chunked_prefill_size=server["chunked_prefill_tokens"],
    )
    off = dict.fromkeys(
        ["is_hybrid_swa", "is_hybrid_ssm", "is_dsa", "enable_hierarchical_cache", "disable_radix_cache"], False
    )
    rest = dict.fromkeys(["tp_worker", "model_config", "tp_group", "full_tokens_per_layer", "swa_tokens_per_layer"])
    args = SimpleNamespace(server_args=server_args(server), params=params, tp_size=1, tp_rank=0, **off, **rest)
    return rows, allocator, create_tree_cache(args)


def bare_scheduler(server: dict[str, Any]) -> Any:
    """What `Scheduler.get_next_batch_to_run` reads, as `Scheduler.__init__` would have set it."""
    args = server_args(server)
    publish(args, role="scheduler")
    slots = args.pp_max_micro_batch_size
    rows, allocator, cache = memory(server, slots)
    one, priorities = Bare(), args.enable_priority_scheduling
    switches = (
        "enable_hisparse enable_lora enable_hicache_storage enable_lmcache enable_hierarchical_cache "
        "enable_unified_cache_external_linker require_mlp_sync is_mixed_chunk is_hybrid_swa "
        "schedule_low_priority_values_first abort_on_priority_when_disabled"
    )
    absent = (
        "dllm_config chunked_req prefill_delayer min_free_slots_delayer dynamic_chunk_sizer truncation_align_size "
        "max_queued_requests decode_offload_manager hisparse_coordinator lora_drainer scheduler_stage_metrics "
        "max_new_tokens_limit sliding_window_size last_batch"
    )
    one.__dict__.update(dict.fromkeys(switches.split(), False), **dict.fromkeys(absent.split()))
    one.__dict__.update(
        server_args=args, device="cpu", page_size=server["page_tokens"], spec_algorithm=SpeculativeAlgorithm.NONE,
        req_to_token_pool=rows, token_to_kv_pool_allocator=allocator, tree_cache=cache, waiting_queue=[],
        enable_overlap=server["overlap"], enable_skip_finishing_decode=server["overlap"], result_queue=deque(),
        max_prefill_tokens=server.get("max_prefill_tokens", 16384), max_running_requests=slots,
        chunked_prefill_size=server["chunked_prefill_tokens"], max_prefill_bs=0, processed_tokens_counter=0,
        policy=SchedulePolicy(server["schedule_policy"], cache, False, priorities, False), forward_ct=0,
        enable_priority_scheduling=priorities,
        enable_priority_preemption=priorities and not args.disable_priority_preemption,
        priority_scheduling_preemption_threshold=args.priority_scheduling_preemption_threshold,
        get_prefill_adder_class=lambda: BatchOrder,
        new_token_ratio_tracker=NewTokenRatioTracker.from_config(), disaggregation_mode=DisaggregationMode.NULL,
        max_req_len=min(CONTEXT - 1, allocator.size - 1), max_total_num_tokens=allocator.size, kv_shard_widening=1,
        running_batch=ScheduleBatch(reqs=[], batch_is_full=False),
        model_config=SimpleNamespace(vocab_size=VOCABULARY, is_encoder_decoder=False, context_len=CONTEXT),
        grammar_manager=SimpleNamespace(has_waiting_grammars=lambda: False),
        beam_coordinator=SimpleNamespace(pending_member_rows=lambda _: 0, retire_group=lambda _: None),
        tp_worker=SimpleNamespace(model_runner=SimpleNamespace(attn_backend=None, prefill_aware_swa=False)),
        load_inquirer=SimpleNamespace(_get_num_pending_tokens=lambda **_: 0),
        dp_attn_adapter=SimpleNamespace(
            maybe_prepare_mlp_sync_batch=lambda batch, **_: batch, maybe_convert_decode_to_extend=lambda batch: batch
        ),
        ngram_embedding_manager=SimpleNamespace(prepare_for_forward=lambda batch, **_: batch),
        metrics_reporter=SimpleNamespace(num_retracted_reqs=0, enable_metrics=False),
        _arm_prefill_decode_interval=lambda _: None, _should_defer_prefill=lambda _: False,
        _process_hicache_events=lambda: None, process_pending_chunked_abort=lambda: None,
        _prefetch_kvcache=lambda _: None,
    )  # fmt: skip
    return one


class Server:
    """Turns of the scheduler's loop; `events` has the format of tests/golden/sglang-*."""

    def __init__(self, server: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        self.settings, self.scheduler = server, bare_scheduler(server)
        self.asked = {each["id"]: each for each in requests}
        self.requests: dict[str, Any] = {}
        self.events: list[list[Any]] = []
        enter = self.scheduler._add_request_to_queue

        def logged(request: Any, is_retracted: bool = False) -> None:
            self.events.append(["queue", request.rid, "retracted" if request.retraction_count else "new"])
            enter(request, is_retracted)

        self.scheduler._add_request_to_queue = logged

    def enqueue(self, name: str) -> None:
        asked = self.asked[name]
        ignore_eos = self.settings.get("ignore_eos", True)
        sampling = SamplingParams(max_new_tokens=len(asked["output_ids"]), ignore_eos=ignore_eos, temperature=0)
        sampling.normalize(None)
        prompt = array("q", asked["input_ids"])
        request = Req(name, "", prompt, sampling, vocab_size=VOCABULARY, priority=asked.get("priority"))
        request.tokenizer = None
        self.scheduler.init_req_max_new_tokens(request)
        self.requests[name] = request
        self.scheduler._add_request_to_queue(request)

    def turn(self) -> Any:
        """Schedule the next pass; process its result, or with overlap that of the pass before."""
        one = self.scheduler
        plan = one.get_next_batch_to_run(one.running_batch, one.last_batch)
        one.running_batch, batch = plan.running_batch, plan.batch_to_run
        kind = "none" if batch is None else "decode" if batch.forward_mode.is_decode() else "prefill"
        names = [each.rid for each in batch.reqs] if batch else []
        ratio, free = one.new_token_ratio_tracker.current, one.token_to_kv_pool_allocator.available_size()
        slots = [int(free), int(one.tree_cache.evictable_size()), bool(one.running_batch.batch_is_full)]
        self.events.append(["pass", kind, names, len(one.waiting_queue), round(float(ratio), 9), *slots])
        due = batch
        if one.enable_overlap:
            due = one.result_queue.popleft()[0] if one.last_batch else None
            if batch:
                one.result_queue.append((batch.copy(), None))
        idle = batch is None and (due is None or not one.enable_overlap)
        if due:
            self._process(due)
        elif idle and not (one.waiting_queue or one.running_batch.reqs or one.chunked_req):
            one.new_token_ratio_tracker.reset()
        one.last_batch = batch
        return batch

    def _process(self, batch: Any) -> None:
        one, prefill = self.scheduler, batch.forward_mode.is_extend()
        one.token_to_kv_pool_allocator.free_group_begin()
        for each in batch.reqs:
            if each.is_retracted or (each.finished() and not (prefill and each.inflight_middle_chunks > 0)):
                continue
            if prefill and each.inflight_middle_chunks > 0:
                each.inflight_middle_chunks -= 1
                continue
            each.output_ids.append(self.asked[each.rid]["output_ids"][len(each.output_ids)])
            each.update_finish_state()
            if each.finished():
                release_kv_cache(each, one.tree_cache, checkpoint=True)
            elif prefill:
                checkpoint_kv_cache(each, one.tree_cache)
        one.token_to_kv_pool_allocator.free_group_end()


def check(path: Path) -> str | None:
    """What of a recording is not reproduced; None if nothing."""
    with gzip.open(path) as file:
        recording = json.load(file)
    server = Server(recording["server"], recording["requests"])
    for number, event in enumerate(recording["events"]):
        if event[0] == "pass":
            server.turn()
            if [*server.events[-1][:4], *server.events[-1][5:]] != [*event[:4], *event[5:]]:
                return f"event {number}: {server.events[-1]} instead of {event}"
        elif event[2] == "new":
            server.enqueue(event[1])
    for each in recording["requests"]:
        found = server.requests[each["id"]]
        if (found.cached_tokens, found.retraction_count) != (each["cached_tokens"], each["total_retractions"]):
            return f"request {each['id']}"
    return None


def main() -> int:
    logging.disable(logging.WARNING)
    differ = {path: found for path in sys.argv[1:] if (found := check(Path(path))) is not None}
    for path, found in differ.items():
        print(f"{path}: {found}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

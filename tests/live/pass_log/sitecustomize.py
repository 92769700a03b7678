"""Writes down what a SGLang 0.5.23 scheduler decides, without changing what it decides.

Python imports a module of this name at start-up when its folder is on PYTHONPATH. With PASS_LOG set it wraps three
methods of the scheduler and appends one JSON line per event: a request queued, a turn of the loop, a cache flush.
A flush also sets the counter behind the waiting-prefix refresh to 0, as a restart would, so that runs recorded one
after another on one server each begin like the first. Needs nothing but the standard library.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

SCHEDULER = "sglang.srt.managers.scheduler"


class _Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the scheduler's module as usual, then wraps what is to be logged."""

    def find_spec(self, name: str, *_: Any) -> Any:
        if name != SCHEDULER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: Any) -> Any:
        assert self._loader is not None
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        assert self._loader is not None
        self._loader.exec_module(module)
        _wrap(module.Scheduler)


def _wrap(scheduler: Any) -> None:
    file = Path(os.environ["PASS_LOG"]).open("a", buffering=1)  # noqa: SIM115 - open as long as the process
    empty = 0

    def log(*event: Any) -> None:
        file.write(json.dumps(event) + "\n")

    queue, plan_next, flush = scheduler._add_request_to_queue, scheduler.get_next_batch_to_run, scheduler.flush_cache

    def queued(self: Any, request: Any, is_retracted: bool = False) -> Any:
        log("queue", request.rid, "retracted" if is_retracted else "new")
        return queue(self, request, is_retracted=is_retracted)

    def planned(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal empty
        plan = plan_next(self, *args, **options)
        batch = plan.batch_to_run
        empty = 0 if batch else empty + 1
        if empty <= 2:  # an idle loop turns without end; its second turn is the last that means something
            kind = "none" if batch is None else "decode" if batch.forward_mode.is_decode() else "prefill"
            log(
                "pass",
                kind,
                [each.rid for each in batch.reqs] if batch else [],
                len(self.waiting_queue),
                round(float(self.new_token_ratio_tracker.current), 9),
                int(self.token_to_kv_pool_allocator.available_size()),
                int(self.tree_cache.evictable_size()),
                bool(plan.running_batch.batch_is_full),
            )
        return plan

    def flushed(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal empty
        done = flush(self, *args, **options)
        self.policy._waiting_prefix_refresh_calls, empty = 0, 0
        log("flush", bool(done), int(self.max_total_num_tokens))
        return done

    scheduler._add_request_to_queue, scheduler.get_next_batch_to_run = queued, planned
    scheduler.flush_cache = flushed


if os.environ.get("PASS_LOG"):
    sys.meta_path.insert(0, _Hook())

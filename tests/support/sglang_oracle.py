"""SGLang 0.5.9's own cache and admission files, run without torch, GPU or the rest of SGLang.

The files are loaded unmodified from build/ (`fetch_sglang_sources.py`). Everything else they import is a stand-in:
names that may be mentioned but do nothing, and a `torch` whose tensors are numpy arrays.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from fetch_sglang_sources import FILES, FOLDER

AVAILABLE = all((FOLDER / name).exists() for name in FILES)
WHY_NOT = "SGLang 0.5.9's files are absent: run tests/support/fetch_sglang_sources.py"


class Tensor(np.ndarray):
    """The few tensor methods the files call."""

    def clone(self) -> Tensor:
        return self.copy()

    def to(self, *_: Any, **__: Any) -> Tensor:
        return self.copy()

    def numel(self) -> int:
        return self.size


def tensor(values: Any) -> Tensor:
    return np.asarray(values, np.int64).view(Tensor)


class _Nothing:
    """A name that is imported and never really used: callable, false, and a class one can derive from."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __bool__(self) -> bool:
        return False


class _StandIn(ModuleType):
    __path__: list[str] = []  # noqa: RUF012 - what makes a module a package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (_Nothing,), {})
        setattr(self, name, value)
        return value


def _torch() -> ModuleType:
    torch = ModuleType("torch")
    torch.__dict__.update(
        Tensor=Tensor,
        int64=np.int64,
        bool=np.bool_,
        device=lambda name: name,
        tensor=lambda values, **_: tensor(values),
        empty=lambda shape, **_: np.zeros(shape, np.int64).view(Tensor),
        cat=lambda parts: np.concatenate(parts).view(Tensor),
        distributed=SimpleNamespace(ProcessGroup=None),
    )
    return torch


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, *_: Any) -> Any:
        if name.split(".")[0] not in ("sglang", "triton"):
            return None
        file = name.replace(".", "/") + ".py"
        if file in FILES:
            return importlib.util.spec_from_file_location(name, FOLDER / file)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


@contextmanager
def _stand_ins() -> Iterator[None]:
    before, finder = set(sys.modules), _Finder()
    had_torch = sys.modules.get("torch")
    sys.modules["torch"] = _torch()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.split(".")[0] in ("sglang", "triton"):
                del sys.modules[name]
        del sys.modules["torch"]
        if had_torch is not None:
            sys.modules["torch"] = had_torch


def load() -> tuple[Any, Any]:
    """SGLang's `radix_cache` and `schedule_policy` modules."""
    with _stand_ins():
        cache = importlib.import_module("sglang.srt.mem_cache.radix_cache")
        return cache, importlib.import_module("sglang.srt.managers.schedule_policy")


class Allocator:
    """Slots by number, handed out in whole pages."""

    def __init__(self, tokens: int, page: int) -> None:
        self.page_size, self.device = page, "cpu"
        self.free_pages = list(range(tokens // page))

    def available_size(self) -> int:
        return len(self.free_pages) * self.page_size

    def free(self, slots: Sequence[int]) -> None:
        self.free_pages.extend(sorted({int(slot) // self.page_size for slot in slots}))

    def extend(self, slots: list[int], length: int) -> list[int]:
        """A row of `length` slots that begins with `slots`."""
        slots = list(slots)
        while len(slots) < length:
            offset = len(slots) % self.page_size
            begin = slots[-1] + 1 if offset else self.free_pages.pop() * self.page_size
            slots.append(begin)
        return slots


class SerialServer:
    """One request after another through SGLang's own `RadixCache`, as its scheduler would drive it."""

    def __init__(self, modules: tuple[Any, Any], *, kv_tokens: int, page: int, eviction: str) -> None:
        self._cache, _ = modules
        self.allocator = Allocator(kv_tokens, page)
        self.page = page
        self._rows = SimpleNamespace(req_to_token=np.zeros((1, 8 * kv_tokens), np.int64).view(Tensor))
        self._rows.write = lambda where, what: self._rows.req_to_token.__setitem__(where, what)
        self._rows.free = lambda _: None
        params = SimpleNamespace(
            disable=False,
            req_to_token_pool=self._rows,
            token_to_kv_pool_allocator=self.allocator,
            page_size=page,
            enable_kv_cache_events=False,
            is_eagle=False,
            disable_finished_insert=False,
            eviction_policy=eviction,
            enable_metrics=False,
        )
        self.cache = self._cache.RadixCache(params)
        self.cache.update_eviction_metrics = lambda *_: None

    def serve(self, prompt: list[int], output: list[int]) -> int:
        """Serve one request to its end; returns the tokens it found cached."""
        api, row = self._cache, self._rows.req_to_token[0]
        match = self.cache.match_prefix(api.MatchPrefixParams(key=api.RadixKey(prompt[:-1])))
        request = SimpleNamespace(
            origin_input_ids=prompt, output_ids=output[:1], fill_ids=prompt, extra_key=None, req_pool_idx=0,
            prefix_indices=match.device_indices, last_node=match.last_device_node, priority=0,
            cache_protected_len=len(match.device_indices), kv_committed_len=len(prompt),
        )  # fmt: skip
        request.pop_committed_kv_cache = lambda: request.kv_committed_len
        self.cache.inc_lock_ref(request.last_node)
        cached = len(match.device_indices)
        self._make_room(len(prompt) - cached + (self.page if self.page > 1 else 0))
        slots = self.allocator.extend([int(each) for each in match.device_indices], len(prompt))
        row[: len(slots)] = slots
        if len(output) > 1:
            self.cache.cache_unfinished_req(request)
        for step in range(1, len(output)):
            needed = self.page if request.kv_committed_len % self.page == 0 else 0
            self._make_room(needed)
            self._make_room(self.page)
            slots = [int(each) for each in row[: request.kv_committed_len]]
            row[request.kv_committed_len] = self.allocator.extend(slots, request.kv_committed_len + 1)[-1]
            request.kv_committed_len += 1
            request.output_ids = output[: step + 1]
        self.cache.cache_finished_req(request)
        return cached

    def _make_room(self, tokens: int) -> None:
        if self.allocator.available_size() < tokens:
            self.cache.evict(self._cache.EvictParams(num_tokens=tokens))

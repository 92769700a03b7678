"""In which order the server itself considers its waiting requests.

The market has already decided the order of arrival; these are the orders SGLang can impose on top. They read the
cache, and matching a request refreshes what it matches, so a policy is part of the cache's behaviour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, Protocol

from sim.engine_config import EngineConfig
from sim.engine_rules import RULES, EngineRules, rules_of
from sim.errors import ScenarioError, did_you_mean
from sim.kv_cache import Node, RadixCache
from sim.kv_memory import KvMemory
from sim.requests import RequestTable
from sim.sequences import Sequence
from sim.token_text import Text, text_of

__all__ = ["SCHEDULE_POLICIES", "WaitingOrder", "check_priorities", "waiting_order"]

SCHEDULE_POLICIES = ("fcfs", "lof", "lpm", "dfs-weight")
#: The orders that a server with priority scheduling refines by priority; it does not start with another.
WITH_PRIORITIES = ("fcfs", "lof")
#: Above this many waiting requests lpm leaves the order alone, and no more than this many are refreshed.
MATCH_MAX = 128
#: Waiting prefixes are refreshed on every 32nd admission attempt.
REFRESH_INTERVAL = 32
#: A request that matches at most so much of the cache, and at least so much of another waiting one, waits for it.
IN_BATCH_TOKENS = 32


class WaitingOrder(Protocol):
    """Called once per admission attempt, before any request is considered."""

    def arrange(self, waiting: deque[Sequence], entries: int) -> None:
        """Sort `waiting`, which was entered `entries` times so far, in place; may refresh and split the cache."""


def waiting_order(config: EngineConfig, rules: EngineRules, memory: KvMemory, requests: RequestTable) -> WaitingOrder:
    """The configured order; ScenarioError for one SGLang does not have."""
    policy = config.schedule_policy
    if policy not in SCHEDULE_POLICIES:
        found, known = f'"{policy}"', f"one of {', '.join(SCHEDULE_POLICIES)}"
        raise ScenarioError("backend.schedule_policy", found, known, did_you_mean(policy, SCHEDULE_POLICIES))
    if config.priority_scheduling:
        check_priorities(config.engine, policy)
    recency = config.eviction == "lru" and config.kv_tokens is not None  # else refreshing would change nothing
    refresh = _Refresh(memory) if rules.waiting_prefix_refresh and recency else None
    if policy == "fcfs":
        return _Sorted(_by_priority, refresh) if config.priority_scheduling else _Fcfs(refresh)
    if policy == "lof":
        return _Sorted(_by_priority_and_output, refresh)
    if policy == "lpm":
        return _LongestPrefix(memory, text_of(requests), rules, refresh)
    return _DfsWeight(memory)


def check_priorities(engine: str, policy: str) -> None:
    """ScenarioError unless a server of this version and queue order can schedule by priority and loses nobody."""
    if not rules_of(engine).keeps_preempted:
        safe = ", ".join(f'"{name}"' for name, rules in RULES.items() if rules.keeps_preempted)
        reason = f"SGLang {engine} can lose a request it has preempted: its client would wait for ever."
        raise ScenarioError("engine", f'"{engine}" with priorities', safe, reason)
    if policy not in WITH_PRIORITIES:
        known = " or ".join(WITH_PRIORITIES)
        raise ScenarioError("schedule_policy", f'"{policy}" with priorities', known)


class _Refresh:
    """Keeps the prefixes of waiting requests recent: a counter over the server's life, and what it triggers."""

    def __init__(self, memory: KvMemory) -> None:
        self._memory, self._calls = memory, 0

    def __call__(self, waiting: deque[Sequence]) -> None:
        if not waiting:
            return
        due = self._calls % REFRESH_INTERVAL == 0
        self._calls += 1
        if due:
            for each in reversed(list(islice(waiting, MATCH_MAX))):
                self._memory.match_whole(each)


class _Fcfs:
    def __init__(self, refresh: _Refresh | None) -> None:
        self._refresh = refresh

    def arrange(self, waiting: deque[Sequence], _entries: int) -> None:
        if self._refresh is not None:
            self._refresh(waiting)


class _Sorted:
    """By a key, stable: equal keys by entry into the queue."""

    def __init__(self, key: Callable[[Sequence], Any], refresh: _Refresh | None) -> None:
        self._key, self._refresh = key, refresh
        self._sorted_at = 0

    def arrange(self, waiting: deque[Sequence], entries: int) -> None:
        if entries != self._sorted_at:  # else nobody came since, and who left left from the front
            ordered = sorted(waiting, key=self._key)
            waiting.clear()
            waiting.extend(ordered)
            self._sorted_at = entries
        if self._refresh is not None:
            self._refresh(waiting)


def _by_priority(sequence: Sequence) -> int:
    return -sequence.priority


def _by_priority_and_output(sequence: Sequence) -> tuple[int, int]:
    """Most output first; where requests have no priorities these are all 0."""
    return -sequence.priority, -sequence.max_new


class _LongestPrefix:
    """Most cached tokens first, stable; of several that share an uncached prefix only the first is urgent."""

    def __init__(self, memory: KvMemory, text: Text, rules: EngineRules, refresh: _Refresh | None) -> None:
        self._memory, self._text, self._rules, self._refresh = memory, text, rules, refresh

    def arrange(self, waiting: deque[Sequence], _entries: int) -> None:
        if len(waiting) > MATCH_MAX:
            if self._refresh is not None:
                self._refresh(waiting)
            return
        urgent, later = [], []
        queued = RadixCache(self._text, self._rules, eviction=None)
        for each in waiting:
            self._memory.match_whole(each)
            length, matched = each.prompt + each.outputs, each.node.end
            if matched <= IN_BATCH_TOKENS:
                if queued.match_tokens(each.index, length) >= IN_BATCH_TOKENS:
                    later.append(each)
                    continue
                queued.insert(each.index, length, queued.root)
            urgent.append((-min(matched, length - 1) if self._rules.caps_sort_key else -matched, each))
        urgent.sort(key=lambda pair: pair[0])
        waiting.clear()
        waiting.extend([each for _, each in urgent])
        waiting.extend(later)


class _DfsWeight:
    """Depth first through the cache, subtrees with more waiting requests first, deeper matches before shallower."""

    def __init__(self, memory: KvMemory) -> None:
        self._memory = memory

    def arrange(self, waiting: deque[Sequence], _entries: int) -> None:
        for each in waiting:
            self._memory.match_whole(each)
        at: dict[Node, list[Sequence]] = {}
        for each in waiting:
            at.setdefault(each.node, []).append(each)
        weight: dict[Node, int] = {}
        for node, requests in at.items():
            while True:
                weight[node] = weight.get(node, 0) + len(requests)
                if node is self._memory.cache.root:
                    break
                node = node.parent
        waiting.clear()
        stack = [(self._memory.cache.root, False)] if weight else []
        while stack:
            node, visited = stack.pop()
            if visited:
                waiting.extend(at.get(node, ()))
                continue
            stack.append((node, True))
            children = [child for child in (node.children or {}).values() if child in weight]
            children.sort(key=lambda child: weight[child], reverse=True)
            stack.extend((child, False) for child in reversed(children))

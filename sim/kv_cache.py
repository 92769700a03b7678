"""The radix KV cache: what stays resident, what is pinned, what goes.

A tree of token runs. Every node is a range [start, end) of the text of the request that brought it, so nothing is
copied; splitting a node keeps the lower half's identity and its depth. Requests lock the path they use; unlocked
leaves are evicted whole. Methods that change the tree are `touch`, `insert`, `lock`, `move_lock`, `unlock` and
`evict`; `match_tokens` looks without touching.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from sim.engine_rules import EngineRules
from sim.errors import InvariantError
from sim.eviction import Victims
from sim.token_text import Text

__all__ = ["Node", "RadixCache"]


class Node:
    """A run of tokens below its parent's.

    Attributes
    ----------
    source, start, end : the run is [start, end) of request `source`'s text; `start` is the parent's `end`.
    key : under which the parent files it.
    locks : requests that use it or something below it.
    touched, created : logical times. order : place among its siblings (lower half and upper half keep theirs).
    hits, priority : what lfu and priority eviction sort by.
    alive : False once evicted; an evicted node still knows its parent, so hints can climb to what is left.
    queued : waits in `Victims`. serial : unique.
    """

    __slots__ = (
        "alive",
        "children",
        "created",
        "end",
        "hits",
        "key",
        "locks",
        "parent",
        "priority",
        "queued",
        "serial",
        "source",
        "start",
        "touched",
    )

    parent: Node
    children: dict[Hashable, Node] | None
    locks: int
    hits: int
    priority: int
    touched: int
    created: int

    def __init__(self, source: int, start: int, end: int, key: Hashable, serial: int) -> None:
        self.source, self.start, self.end, self.key, self.serial = source, start, end, key, serial
        self.children = None
        self.locks = self.hits = self.priority = 0
        self.touched = self.created = serial
        self.alive, self.queued = True, False


class RadixCache:
    """The tree and its accounting, in tokens.

    Parameters
    ----------
    text : what the requests say.
    rules : insert and split semantics.
    page_tokens : runs are whole pages; limits given to `touch` and `insert` must be, too.
    eviction : policy name; None = nothing is ever evicted, so no order is kept.

    Attributes
    ----------
    resident : tokens in the tree. evictable : those of them no request locks.
    """

    def __init__(self, text: Text, rules: EngineRules, *, page_tokens: int = 1, eviction: str | None = "lru") -> None:
        self._text, self._rules, self._page = text, rules, page_tokens
        self._victims = None if eviction is None else Victims(eviction)
        self._counts = eviction in ("lfu", "slru") and rules.counts_hits
        self._ranks = eviction == "priority"
        self._clock = 0
        self.resident = self.evictable = 0
        self.root = Node(-1, 0, 0, None, 0)
        self.root.locks = 1

    # ---- queries

    def match_tokens(self, request: int, limit: int, hint: Node | None = None) -> int:
        """Leading tokens of a request that are resident, at most `limit`; changes nothing."""
        return self._find(request, limit, hint or self.root)[2]

    def nodes(self) -> Iterator[Node]:
        """Every node but the root, parents first, siblings in their order."""
        stack = list(self.root.children.values())[::-1] if self.root.children else []
        while stack:
            node = stack.pop()
            yield node
            if node.children:
                stack.extend(list(node.children.values())[::-1])

    # ---- commands

    def touch(self, request: int, limit: int, hint: Node) -> Node:
        """Match: refresh the path of the longest resident prefix of at most `limit` tokens, return its last node.

        A node that is only partly matched is split, and its unmatched lower half is refreshed as well.
        `hint` is any node once known to lie on the request's path; O(path) beyond the tokens below it.
        """
        node, partial, position = self._find(request, limit, hint)
        if partial is not None:
            node = self._split(partial, position)
        self._refresh(node)
        return node

    def insert(self, request: int, tokens: int, hint: Node, *, priority: int = 0, counted: int = 0) -> tuple[int, Node]:
        """Make the first `tokens` tokens resident; return how many already were, and the last node.

        The unmatched tail becomes one new leaf. `counted` leading tokens are left out of hit counts.
        """
        node, partial, matched = self._find(request, tokens, hint)
        if partial is not None:
            node = self._split(partial, matched)
        if matched < tokens:
            node = self._append(node, request, matched, tokens, priority)
        if self._counts:
            for each in self._path(node):
                if each.end > counted:
                    each.hits += 1
        if self._ranks:
            for each in self._path(node):
                each.priority = max(each.priority, priority)
        self._refresh(node)
        return matched, node

    def lock(self, node: Node) -> None:
        """Pin the path from the root to `node`."""
        self.move_lock(self.root, node)

    def move_lock(self, upper: Node, lower: Node) -> None:
        """Extend a lock on `upper` down to `lower`, a node of its subtree."""
        while lower is not upper:
            if lower.locks == 0:
                self.evictable -= lower.end - lower.start
            lower.locks += 1
            lower = lower.parent

    def unlock(self, node: Node) -> None:
        """Release one lock of the path from the root to `node`."""
        root, victims = self.root, self._victims
        while node is not root:
            node.locks -= 1
            if node.locks == 0:
                self.evictable += node.end - node.start
                if victims is not None and not node.children:
                    victims.offer(node)
            node = node.parent

    def evict(self, tokens: int) -> int:
        """Drop unlocked leaves, whole, until at least `tokens` are freed or none is left; return what was freed."""
        freed = 0
        while freed < tokens and self._victims is not None:
            node = self._victims.pop()
            if node is None:
                break
            freed += node.end - node.start
            self._drop(node)
        return freed

    # ---- inner workings

    def _find(self, request: int, limit: int, hint: Node) -> tuple[Node, Node | None, int]:
        """Deepest node wholly matched, the child partly matched below it if any, and tokens matched."""
        node, page, agree_until = hint, self._page, self._text.agree_until
        while not node.alive:
            node = node.parent
        while node.end > limit:
            if node.start < limit:
                return node.parent, node, limit
            node = node.parent
        position = node.end
        while position < limit and node.children:
            child = node.children.get(self._text.key(request, position))
            if child is None:
                break
            position = agree_until(request, child.source, position, min(child.end, limit))
            if page > 1:
                position -= position % page
            if position < child.end:
                return node, child, position
            node = child
        return node, None, position

    def _split(self, lower: Node, at: int) -> Node:
        """Cut `lower` at depth `at`; returns the new upper half. The lower half counts as just touched."""
        self._clock += 1
        upper = Node(lower.source, lower.start, at, lower.key, self._clock)
        upper.parent, upper.locks, upper.hits, upper.priority = lower.parent, lower.locks, lower.hits, lower.priority
        if self._rules.split_keeps_creation:
            upper.created = lower.created
        assert upper.parent.children is not None
        upper.parent.children[upper.key] = upper
        lower.parent, lower.start, lower.key = upper, at, self._text.key(lower.source, at)
        upper.children = {lower.key: lower}
        lower.touched = self._clock
        if self._victims is not None:
            self._victims.retouched(lower)
        return upper

    def _append(self, parent: Node, request: int, start: int, end: int, priority: int) -> Node:
        self._clock += 1
        leaf = Node(request, start, end, self._text.key(request, start), self._clock)
        leaf.parent, leaf.priority = parent, priority
        if parent.children is None:
            parent.children = {}
        parent.children[leaf.key] = leaf
        self.resident += end - start
        self.evictable += end - start
        if self._victims is not None:
            self._victims.offer(leaf)
        return leaf

    def _refresh(self, node: Node) -> None:
        """Stamp the path of `node`; its nodes are never compared with each other, so one stamp serves all."""
        self._clock += 1
        now, root, last = self._clock, self.root, node
        while node is not root:
            node.touched = now
            node = node.parent
        if self._victims is not None:
            self._victims.retouched(last)

    def _path(self, node: Node) -> Iterator[Node]:
        while node is not self.root:
            yield node
            node = node.parent

    def _drop(self, leaf: Node) -> None:
        parent = leaf.parent
        assert parent.children is not None
        del parent.children[leaf.key]
        leaf.alive = False
        self.resident -= leaf.end - leaf.start
        self.evictable -= leaf.end - leaf.start
        if not parent.children and parent.locks == 0 and self._victims is not None:
            self._victims.offer(parent)

    # ---- invariants

    def check_integrity(self) -> None:
        """Raise InvariantError unless the tree is a radix tree and its counters are what its nodes add up to."""
        resident = evictable = 0
        for node in self.nodes():
            size, siblings = node.end - node.start, node.parent.children
            resident += size
            evictable += size if node.locks == 0 else 0
            sound = (
                node.alive
                and (node.parent.alive or node.parent is self.root)
                and size > 0
                and node.start == node.parent.end
                and size % self._page == 0
                and node.key == self._text.key(node.source, node.start)
                and siblings is not None
                and siblings.get(node.key) is node
                and node.locks >= 0
                and (node.parent is self.root or node.parent.locks >= node.locks)
                and (self._victims is None or node.locks > 0 or bool(node.children) or node.queued)
            )
            if not sound:
                raise InvariantError(f"KV cache: node [{node.start}, {node.end}) of request {node.source} is unsound.")
        if (resident, evictable) != (self.resident, self.evictable):
            counted = f"{resident} resident and {evictable} evictable tokens"
            raise InvariantError(f"KV cache: nodes hold {counted}, counters say {self.resident} and {self.evictable}.")

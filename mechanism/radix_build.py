"""Sorting prompts into a radix tree: partition by longest common prefix with a pivot, all groups of a round at once.

A group is a set of prompts known to agree up to some depth. Compare everyone with one member, the pivot: the
lengths of those common prefixes are the branching depths on the pivot's path, and those who leave the path at the same
depth by the same next token form the groups of the next round. A prompt is read only as far as it is shared.
Groups shrink like quicksort's: O(log n) rounds are expected, however deep the tree (one round for a chain whose pivot
is its longest prompt), and each reads what is still shared once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanism.common_prefix import common_symbols
from mechanism.errors import MechanismError
from mechanism.prompts import IntArray, Prompts, offsets
from mechanism.ranges import changes, runs

__all__ = ["partition"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Groups:
    """G groups of at least two prompts: where they stand in `leaves`, symbols known to agree, node they hang from."""

    start: IntArray
    size: IntArray
    known: IntArray
    parent: IntArray


@dataclass(frozen=True, slots=True)
class _Departures:
    """Where each member leaves its pivot: after `depth` tokens, towards symbol number `symbol` of its own.

    Those who leave at one depth share their next token when `toward` is the same number > 0; 0: the prompt ends there.
    """

    symbol: IntArray
    depth: IntArray
    toward: IntArray


def partition(prompts: Prompts) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """`leaves`, `start`, `stop`, `depth_tokens` and `parent` of the tree, nodes in preorder (see `RadixTree`).

    Raises
    ------
    MechanismError
        Lengths below 1, or offsets that do not fit the symbols.
    """
    _check(prompts)
    n = len(prompts)
    leaves, above = np.arange(n), np.zeros(n, dtype=np.int64)  # above: the node over each position of `leaves`
    nodes = [np.array([[0], [n], [0], [0]])]  # rows: start, stop, depth, parent
    groups = _Groups(*(np.array([x]) for x in (0, n, 0, 0)))
    num_nodes, measure = 1, _Measure(prompts)
    while n > 1 and len(groups.start):
        found, groups = _split(measure, groups, leaves, above, num_nodes)
        nodes.append(found)
        num_nodes += found.shape[1]
    start, stop, depth, parent = np.concatenate(nodes, axis=1)
    preorder = np.argsort(start * (depth.max() + 1) + depth)  # nodes that start together form one path down
    renamed = np.empty_like(preorder)
    renamed[preorder] = np.arange(num_nodes)
    parents = np.concatenate((renamed[parent[preorder]], renamed[above]))
    return leaves, start[preorder], stop[preorder], depth[preorder], parents


def _check(prompts: Prompts) -> None:
    indptr, size = prompts.indptr, len(prompts.symbols)
    if len(indptr) == 0 or indptr[0] < 0 or indptr[-1] > size or np.any(np.diff(indptr) < 0):
        raise MechanismError(f"prompts: indptr must rise from 0 to at most the {size} symbols")
    if prompts.lengths is not None and (len(prompts.lengths) != size or np.any(prompts.lengths < 1)):
        raise MechanismError(f"prompts: lengths must be {size} numbers of tokens, each at least 1")


class _Measure:
    """The prompts, and how far two of them agree in symbols and in tokens."""

    def __init__(self, prompts: Prompts) -> None:
        self.first, self.count = prompts.indptr[:-1], np.diff(prompts.indptr)
        self.symbols = np.ascontiguousarray(prompts.symbols)
        self.columns = [self.symbols]
        self.lengths = None
        if prompts.lengths is not None and len(self.symbols):
            self.lengths = np.ascontiguousarray(prompts.lengths)
            self.columns.append(self.lengths)
            self.tokens_before = offsets(self.lengths)

    def departures(self, request: IntArray, group: IntArray, pivot_at: IntArray, known: IntArray) -> _Departures:
        """Where each member of the groups leaves its group's pivot, given that `known` symbols agree."""
        pivot, base = request[pivot_at], known[group]
        mine, rest = self.first[request] + base, self.count[request] - base
        theirs = (self.first[pivot] + known)[group]
        limit = np.minimum(rest, (self.count[pivot] - known)[group])
        limit[pivot_at] = 0
        shared = common_symbols(self.columns, mine, theirs, limit)
        if self.lengths is None:
            return _Departures(base + shared, base + shared, self._ids(mine + shared, shared == rest))
        return self._inside_symbols(request, mine + shared, theirs + shared, shared < limit)

    def _inside_symbols(self, request: IntArray, mine: IntArray, theirs: IntArray, part: BoolArray) -> _Departures:
        """The same for symbols with lengths: equal ids of different length share the shorter.

        `mine` and `theirs` point at the first symbols that differ where `part`, else one of the two has ended.
        """
        assert self.lengths is not None
        first = self.first[request]
        my_next, their_next = np.where(part, mine, 0), np.where(part, theirs, 0)
        longer = self.lengths[my_next].astype(np.int64) - self.lengths[their_next]
        same_id = part & (self.symbols[my_next] == self.symbols[their_next])
        within = np.where(same_id, np.minimum(self.lengths[my_next], self.lengths[their_next]), 0)
        at = mine + (same_id & (longer < 0))
        toward = self._ids(at, at - first == self.count[request]) * 2 + (same_id & (longer > 0))
        return _Departures(at - first, self.tokens_before[mine] - self.tokens_before[first] + within, toward)

    def _ids(self, at: IntArray, ended: BoolArray) -> IntArray:
        """Ids made ≥ 1 without changing which are equal; 0 where the prompt has ended."""
        if len(self.symbols) == 0:
            return np.zeros(len(at), dtype=np.int64)
        ids = self.symbols[np.minimum(at, len(self.symbols) - 1)]
        # ranks for ids that may use all 64 bits
        number = ids.view(np.uint32) if ids.itemsize == 4 else np.unique(ids, return_inverse=True)[1]
        toward = number + np.int64(1)
        toward[ended] = 0
        return toward


def _split(
    measure: _Measure, groups: _Groups, leaves: IntArray, above: IntArray, num_nodes: int
) -> tuple[IntArray, _Groups]:
    """One round: sort every group by where its members leave the pivot, in place; new nodes and groups.

    Within a group the pivot comes first and then those who leave it deepest first, so that a node on the pivot's path
    covers a range that begins with the pivot.
    """
    offset = np.cumsum(groups.size) - groups.size
    group = np.repeat(np.arange(len(offset)), groups.size)
    position = np.arange(len(group)) + (groups.start - offset)[group]
    pivot_at = offset + (groups.size >> 1)
    request = leaves[position]
    left = measure.departures(request, group, pivot_at, groups.known)
    deepest = int(left.depth.max())
    height = deepest + 1 - left.depth
    height[pivot_at] = 0
    key, bits = _join(group * (deepest + 2) + height, left.toward)
    order = np.argsort(key)
    key = key[order]
    leaves[position] = request[order]

    begin, end = runs(changes(key))  # who go on together: one pivot, or those who leave at one node by one token
    leader, place = order[begin], key[begin] >> bits
    node_begin, node_end = runs(changes(place))
    stop = position[end[node_end - 1] - 1] + 1
    node, found = _hang(groups, group[begin[node_begin]], left.depth[leader[node_begin]], stop, num_nodes)
    run_node = np.repeat(node, node_end - node_begin)
    above[position] = np.repeat(run_node, end - begin)

    deeper = ((end - begin > 1) & (left.toward[leader] > 0)).nonzero()[0]
    known = left.symbol[leader[deeper]] + (measure.lengths is None)
    begin, end = begin[deeper], end[deeper]
    return found, _Groups(position[begin], end - begin, known, run_node[deeper])


def _hang(
    groups: _Groups, group: IntArray, depth: IntArray, stop: IntArray, num_nodes: int
) -> tuple[IntArray, IntArray]:
    """The node that each run hangs from, and the new nodes as rows start, stop, depth, parent.

    The runs of one group: the pivot, then the nodes on its path from the deepest up.
    """
    pivot, last = runs(changes(group))
    node = np.empty(len(group), dtype=np.int64)
    is_new = np.ones(len(group), dtype=np.bool_)
    is_new[pivot] = False
    if depth[-1] == 0:  # only in the first round: those who leave at once hang from the root, which exists
        is_new[-1] = False
    new = is_new.nonzero()[0]
    node[-1] = 0
    node[new] = np.arange(num_nodes, num_nodes + len(new))
    node[pivot] = node[pivot + 1]  # a pivot hangs from the deepest node on its path
    parent = np.empty(len(group), dtype=np.int64)
    parent[:-1] = node[1:]
    parent[last - 1] = groups.parent
    return node, np.array((groups.start[group[new]], stop[new], depth[new], parent[new]))


def _join(major: IntArray, minor: IntArray) -> tuple[IntArray, int]:
    """One integer that sorts as (major, minor), and how many of its bits are `minor`. Ranks, where it would not fit."""
    bits = int(minor.max()).bit_length()
    if int(major.max()).bit_length() + bits > 63:
        major, minor = (np.unique(part, return_inverse=True)[1] for part in (major, minor))
        bits = int(minor.max()).bit_length()
    return (major << bits) | minor, bits

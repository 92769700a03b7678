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
from mechanism.prompts import IntArray, Prompts
from mechanism.ranges import changes, expand

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
class _Departure:
    """Where each prompt leaves its pivot: after `depth` tokens, towards symbol `symbol` of its own.

    `ended`: there is no such symbol, the prompt ends here. `inside`: the pivot's shorter symbol of the same id ends,
    and the prompt goes on inside its own.
    """

    depth: IntArray
    symbol: IntArray
    ended: BoolArray
    inside: BoolArray


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
    leaf_parent = np.empty(n, dtype=np.int64)
    leaf_parent[leaves] = renamed[above]
    parents = np.concatenate((renamed[parent[preorder]], leaf_parent))
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
            self.tokens_before = np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))

    def departures(self, request: IntArray, pivot: IntArray, known: IntArray) -> _Departure:
        """Where each request leaves its pivot, given that `known` symbols agree."""
        mine, theirs = self.first[request] + known, self.first[pivot] + known
        my_rest, their_rest = self.count[request] - known, self.count[pivot] - known
        limit = np.where(request == pivot, 0, np.minimum(my_rest, their_rest))
        shared = common_symbols(self.columns, mine, theirs, limit)
        none = np.zeros(len(request), dtype=np.bool_)
        if self.lengths is None:
            return _Departure(known + shared, known + shared, shared == my_rest, none)
        return self._split_symbols(request, mine, theirs, known, shared, shared < limit)

    def _split_symbols(
        self, request: IntArray, mine: IntArray, theirs: IntArray, known: IntArray, shared: IntArray, part: BoolArray
    ) -> _Departure:
        """The same for symbols with lengths: equal ids of different length share the shorter."""
        assert self.lengths is not None
        my_next, their_next = np.where(part, mine + shared, 0), np.where(part, theirs + shared, 0)
        my_length, their_length = self.lengths[my_next], self.lengths[their_next]
        same_id = part & (self.symbols[my_next] == self.symbols[their_next])
        depth = self.tokens_before[mine + shared] - self.tokens_before[self.first[request]]
        depth += np.where(same_id, np.minimum(my_length, their_length), 0)
        symbol = known + shared + (same_id & (my_length < their_length))
        return _Departure(depth, symbol, symbol == self.count[request], same_id & (my_length > their_length))


def _split(
    measure: _Measure, groups: _Groups, leaves: IntArray, above: IntArray, num_nodes: int
) -> tuple[IntArray, _Groups]:
    """One round: sort every group by where its members leave the pivot, in place; new nodes and groups.

    Within a group the pivot comes first and then those who leave it deepest first, so that a node on the pivot's path
    covers a range that begins with the pivot.
    """
    position = expand(groups.start, groups.size)
    group = np.repeat(np.arange(len(groups.start)), groups.size)
    pivot_at = np.cumsum(groups.size) - groups.size + groups.size // 2
    request = leaves[position]
    left = measure.departures(request, request[pivot_at][group], groups.known[group])
    height = left.depth.max() + 1 - left.depth  # ≥ 1; the pivot gets 0
    height[pivot_at] = 0
    place = ((group * (height.max() + 1) + height) * 2 + left.ended) * 2 + left.inside
    at = measure.first[request] + left.symbol
    at[left.ended] = 0
    toward = np.where(left.ended, 0, measure.symbols[at]) if len(measure.symbols) else at

    order = _argsort_pairs(place, toward)
    leaves[position] = request[order]
    place, toward = place[order], toward[order]
    depth, ended, symbol = left.depth[order], left.ended[order], left.symbol[order]

    first = np.flatnonzero(changes(place >> 2))  # runs: a pivot, or those who leave at one node
    run_group, is_pivot = group[first], height[order][first] == 0
    node = num_nodes + np.cumsum(~is_pivot) - 1  # of a pivot: the next run's less one, mended below
    node[is_pivot] += 1
    after = np.append(first[1:], len(position))
    is_node = ~is_pivot
    if depth[first[-1]] == 0:  # only in the first round: they leave at the root, which exists
        is_node[-1], node[node == node[-1]] = False, 0
    lowest = np.append(run_group[1:] != run_group[:-1], True)
    parent = np.where(lowest, groups.parent[run_group], np.append(node[1:], 0))
    found = np.stack((groups.start[run_group], position[after - 1] + 1, depth[first], parent))[:, is_node]
    above[position] = member_node = np.repeat(node, after - first)

    begin = np.flatnonzero(changes(place, toward))
    size = np.diff(np.append(begin, len(position)))
    deeper = (size > 1) & ~ended[begin]
    begin, size = begin[deeper], size[deeper]
    known = symbol[begin] + (measure.lengths is None)
    return found, _Groups(position[begin], size, known, member_node[begin])


def _argsort_pairs(major: IntArray, minor: IntArray) -> IntArray:
    """Positions that sort by (major, minor): as one integer where both fit into 63 bits (faster)."""
    low = int(minor.min())
    bits = (int(minor.max()) - low).bit_length()
    if int(major.max()).bit_length() + bits <= 63:
        return np.argsort((major << bits) | (minor.astype(np.int64) - low))
    return np.lexsort((minor, major))

"""Trees: thoughts that branch (tree-of-thought in the paper, §5); every node of a tree may be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from mechanism.prompts import IntArray, Prompts
from sim.errors import ScenarioError
from sim.quantities import Count, NumRequests
from sim.requests import Demand
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._sharing import (
    STAR_EXPONENTS,
    Length,
    check_lengths,
    check_total,
    draw_lengths,
    private_prompts,
    write_accidental_tokens,
)

__all__ = ["Trees"]

_MAX_NODES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Complete trees of text: a request's prompt is the path from its tree's root to one node, in random order.

    `num_requests` nodes are drawn from all trees without replacement; where there are fewer nodes, every node is
    asked ⌊num_requests / nodes⌋ times and the rest is drawn so.

    Attributes
    ----------
    num_requests : number of requests; null = every node once.
    output_tokens : tokens each generates, or a distribution.
    arity : children of an inner node.
    depth : steps from a root to a leaf.
    root_tokens : tokens of a root, the text a tree is about; a number or [low, high], drawn per tree.
    step_tokens : tokens each step adds; a number or [low, high], drawn per node.
    num_trees : number of trees.
    accidental_sharing : whether roots begin alike by accident; off by default, as MATH.md measures trees without.
    """

    num_requests: NumRequests | None = 1024
    output_tokens: OutputTokens = 1
    arity: Count = 3
    depth: Annotated[int, Field(ge=0, le=64)] = 6
    root_tokens: Length = 40
    step_tokens: Length = 20
    num_trees: Count = 1
    accidental_sharing: bool = False

    def __post_init__(self) -> None:
        check_lengths(root_tokens=self.root_tokens, step_tokens=self.step_tokens)
        if self.depth > 64 or self._nodes_per_tree() * self.num_trees > _MAX_NODES:
            raise ScenarioError("depth", str(self.depth), f"at most {_MAX_NODES:,} nodes in all trees together")

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(nodes + tokens)."""
        per_tree = self._nodes_per_tree()
        num_nodes = per_tree * self.num_trees
        n = self.num_requests or num_nodes
        node = self._asked(num_nodes, n, rng_stream("workload-order"))
        texts = self._texts(per_tree, rng_stream)
        steps = _paths(node % per_tree, self.arity)
        prompts = _join(texts, np.where(steps >= 0, steps + (node - node % per_tree)[:, None], -1))
        return Demand(
            prompts=prompts,
            output_tokens=draw_output_tokens(self.output_tokens, n, rng_stream("workload-outputs")),
            cluster=node // per_tree,
        )

    def _nodes_per_tree(self) -> int:
        return sum(self.arity**level for level in range(self.depth + 1))

    @staticmethod
    def _asked(num_nodes: int, n: int, rng: np.random.Generator) -> IntArray:
        """(n,) nodes in the order they are asked; node k of a tree has the children arity·k + 1 … arity·k + arity."""
        often, rest = divmod(n, num_nodes)
        drawn = rng.permutation(num_nodes)[:rest]
        return rng.permutation(np.concatenate((np.repeat(np.arange(num_nodes), often), drawn)))

    def _texts(self, per_tree: int, rng_stream: Callable[[str], np.random.Generator]) -> Prompts:
        """What each node adds to its parent's prompt."""
        lengths = rng_stream("workload-lengths")
        added = draw_lengths(self.step_tokens, per_tree * self.num_trees, lengths)
        roots = np.arange(self.num_trees) * per_tree
        added[roots] = draw_lengths(self.root_tokens, self.num_trees, lengths)
        texts = private_prompts(added)
        if self.accidental_sharing:
            rng = rng_stream("workload-accidental")
            write_accidental_tokens(texts, roots, np.zeros_like(roots), STAR_EXPONENTS, rng)
        return texts


def _paths(node: IntArray, arity: int) -> IntArray:
    """(n, levels) nodes from each node's root down to it, left-padded with −1."""
    levels = [node]
    while (levels[-1] > 0).any():
        levels.append(np.where(levels[-1] > 0, (levels[-1] - 1) // arity, -1))
    return np.stack(levels[::-1], axis=1)


def _join(texts: Prompts, steps: IntArray) -> Prompts:
    """The texts along each row of `steps`, joined; −1 is nothing."""
    present = steps >= 0
    nodes = steps[present]
    sources = texts.indptr[nodes]
    counts = texts.indptr[nodes + 1] - sources
    check_total(float(counts.sum()))
    targets = np.concatenate(([0], np.cumsum(counts)))
    symbols = np.empty(targets[-1], dtype=texts.symbols.dtype)
    for target, source, count in zip(targets.tolist(), sources.tolist(), counts.tolist(), strict=False):
        symbols[target : target + count] = texts.symbols[source : source + count]
    rows = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
    return Prompts(symbols, targets[rows])

"""The paper's trees on real text (§5): short ones from Game-of-24 searches, long ones behind whole articles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sim.errors import ScenarioError
from sim.prefix_sharing import prefix_sharing
from sim.quantities import Count, NumRequests
from sim.requests import Demand
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._real_texts import Files, Tokens, encoder, join_pieces
from sim.workloads._sharing import Length, check_lengths, draw_lengths
from sim.workloads._squad import read_squad
from sim.workloads._thoughts import Thoughts, grow, read_game24

__all__ = ["TreeOfThought"]

Encode = Callable[[str], Tokens]
#: The prompts of a tree's nodes, breadth first, each as the pieces along its path.
Tree = list[tuple[Tokens, ...]]


@dataclass(frozen=True, kw_only=True)
class TreeOfThought:
    """Trees of text in which every node is asked once, in random order; its prompt is the path from the root to it.

    Short: a tree is a puzzle of a Game-of-24 search log, its root the rules and the puzzle's numbers, its nodes the
    steps that the search proposed; the log says who is whose child. A node keeps at most `arity` children, those
    first that the search went on with. Long: the root is the beginning of a SQuAD article, every node adds a question
    about it with the recorded answer, in a complete tree; questions are drawn at random.

    Trees are taken in random order, whole but for the last, which loses its deepest nodes. Where the files have fewer
    nodes than `num_requests`, all are asked again, and again. A tree is a cluster.

    Attributes
    ----------
    variant : short or long.
    path : a Game-of-24 log (short).
    squad_paths : SQuAD files, v1.1 or v2.0 (long).
    num_requests : number of requests; null = every node once.
    output_tokens : tokens each generates, or a distribution.
    arity : most children of a node.
    depth : most steps from a root to a leaf; the published logs have 4.
    article_tokens : tokens of a root (long); a number or [low, high], drawn per article; a shorter one is used whole.
    tokenizer : o200k, cl100k, a path to tokenizer.json, or null for UTF-8 bytes.
    """

    variant: Literal["short", "long"]
    path: Path | None = None
    squad_paths: Files | None = None
    num_requests: NumRequests | None = 1024
    output_tokens: OutputTokens = 1
    arity: Count = 3
    depth: Count = 3
    article_tokens: Length = (3000, 5000)
    tokenizer: str | None = "o200k"

    def __post_init__(self) -> None:
        check_lengths(article_tokens=self.article_tokens)
        needs = {"path": self.variant == "short", "squad_paths": self.variant == "long"}
        for key, needed in needs.items():
            given = getattr(self, key) is not None
            if given != needed:
                wish = f"the key {key}" if needed else f"no {key}"
                raise ScenarioError(key, "one" if given else "nothing", f"{wish} with variant: {self.variant}")

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(tokens)."""
        trees = self._trees(rng_stream("workload-texts"))
        rng = rng_stream("workload-order")
        rows: Tree = []
        sizes: list[int] = []
        n = self.num_requests or sum(map(len, trees))
        while len(rows) < n:
            for k in rng.permutation(len(trees)).tolist():
                taken = trees[k][: n - len(rows)]
                rows += taken
                sizes.append(len(taken))
        order = rng.permutation(n)
        prompts = join_pieces([rows[k] for k in order.tolist()])
        return Demand(
            prompts=prompts,
            output_tokens=draw_output_tokens(self.output_tokens, n, rng_stream("workload-outputs")),
            cluster=np.repeat(np.arange(len(sizes)), sizes)[order],
            facts={"sharing": prefix_sharing(prompts), "mean_prompt_tokens": float(prompts.num_tokens.mean())},
        )

    def _trees(self, rng: np.random.Generator) -> list[Tree]:
        encode = encoder(self.tokenizer)
        if self.path is not None:
            return [_prompts(tree, None, encode) for tree in read_game24(self.path, self.arity, self.depth)]
        articles = read_squad(self.squad_paths or ())
        lengths = draw_lengths(self.article_tokens, len(articles), rng).tolist()
        trees = []
        for article, length in zip(articles, lengths, strict=True):
            questions = (article.questions[k] for k in rng.permutation(len(article.questions)).tolist())
            root = [f"{paragraph}\n\n" for paragraph in article.paragraphs]
            trees.append(_prompts(grow(root, questions, self.arity, self.depth), length, encode))
        return trees


def _prompts(thoughts: Thoughts, root_tokens: int | None, encode: Encode) -> Tree:
    """Every node's prompt; the root is cut to `root_tokens`, where that is given."""
    rows: Tree = []
    for parent, text in zip(thoughts.parent, thoughts.text, strict=True):
        own = np.concatenate([encode(piece) for piece in text])
        rows.append((*rows[parent], own) if rows else (own[:root_tokens],))
    return rows

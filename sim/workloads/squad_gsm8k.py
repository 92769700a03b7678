"""The paper's mixshare-P on real text (§5): SQuAD questions behind an article, GSM8K questions behind examples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.prefix_sharing import prefix_sharing
from sim.quantities import Count, LengthTokens, NumRequests
from sim.requests import Demand
from sim.workloads._gsm8k import Problem, read_gsm8k
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._real_texts import Files, Tokens, encoder, join_pieces
from sim.workloads._sharing import shuffled_clusters
from sim.workloads._squad import Article, read_squad

__all__ = ["SquadGsm8k"]

Encode = Callable[[str], Tokens]
#: A context, and the questions that are asked behind it, one after the other.
Group = tuple[Tokens, Iterator[Tokens]]


@dataclass(frozen=True, kw_only=True)
class SquadGsm8k:
    """Clusters of questions behind one context, mixed with singletons behind contexts of their own, in random order.

    A SQuAD context is `article_tokens` of an article from the start of a paragraph on. Clusters stand behind the
    first paragraphs of different articles, until every article has one; then, and for singletons, behind random
    others. A GSM8K context is `num_examples` successive problems, the first one's from the start of the file on, each
    starting one problem later: contexts may overlap, but no two begin alike, and a cache sees beginnings only.
    Problems that serve as an example are not asked. A SQuAD question is asked again only after all of its article.

    Clusters are numbered 0, 1, …: SQuAD's, then GSM8K's; singletons after them.

    Attributes
    ----------
    squad_paths : SQuAD files, v1.1 or v2.0.
    gsm8k_path : a GSM8K file, best train.jsonl.
    num_requests : number of requests.
    output_tokens : tokens each generates, or a distribution.
    sharing : share of the requests that belong to a cluster, 0 to 1.
    cluster_size : requests in a cluster.
    gsm8k_share : share of the clusters, and of the singletons, that are GSM8K's.
    article_tokens : tokens of a SQuAD context; an article that ends before is used to its end.
    num_examples : worked problems in a GSM8K context.
    tokenizer : o200k, cl100k, a path to tokenizer.json, or null for UTF-8 bytes.
    """

    squad_paths: Files
    gsm8k_path: Path
    num_requests: NumRequests = 1024
    output_tokens: OutputTokens = 1
    sharing: Annotated[float, Field(ge=0, le=1)] = 0.5
    cluster_size: Count = 16
    gsm8k_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    article_tokens: LengthTokens = 900
    num_examples: Count = 8
    tokenizer: str | None = "o200k"

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(tokens)."""
        n = self.num_requests
        order = rng_stream("workload-order")
        cluster, num_clusters = shuffled_clusters(n, self.sharing, self.cluster_size, order)
        encode, rng = encoder(self.tokenizer), rng_stream("workload-texts")
        problems = read_gsm8k(self.gsm8k_path)
        groups = self._groups(num_clusters, int((cluster >= num_clusters).sum()), cluster, problems, encode, rng)
        rows = [(context, next(questions)) for context, questions in (groups[c] for c in cluster.tolist())]
        prompts = join_pieces(rows)
        return Demand(
            prompts=prompts,
            output_tokens=draw_output_tokens(self.output_tokens, n, rng_stream("workload-outputs")),
            cluster=cluster,
            facts={
                "sharing": prefix_sharing(prompts),
                "mean_prompt_tokens": float(prompts.num_tokens.mean()),
                "few_shot_prefix_tokens": float(len(_examples(problems, 0, self.num_examples, encode))),
            },
        )

    def _groups(
        self,
        num_clusters: int,
        num_singletons: int,
        cluster: IntArray,
        problems: Sequence[Problem],
        encode: Encode,
        rng: np.random.Generator,
    ) -> list[Group]:
        """What each cluster id asks, clusters first."""
        grade_clusters, grade_singles = (round(k * self.gsm8k_share) for k in (num_clusters, num_singletons))
        is_grade = np.zeros(num_clusters + num_singletons, dtype=np.bool_)
        is_grade[num_clusters - grade_clusters : num_clusters] = True
        is_grade[len(is_grade) - grade_singles :] = True
        asked = int(is_grade[cluster].sum())
        grade = iter(self._grade_groups(problems, int(is_grade.sum()), asked, encode, rng))
        squad_clusters, squad_singles = num_clusters - grade_clusters, num_singletons - grade_singles
        articles = iter(self._article_groups(read_squad(self.squad_paths), squad_clusters, squad_singles, encode, rng))
        return [next(grade if of_grade else articles) for of_grade in is_grade.tolist()]

    def _grade_groups(
        self, problems: Sequence[Problem], num_contexts: int, asked: int, encode: Encode, rng: np.random.Generator
    ) -> list[Group]:
        """GSM8K contexts 0, 1, …; all draw from the same problems, none of which is an example."""
        used = num_contexts + self.num_examples - 1 if num_contexts else 0
        if used + asked > len(problems):
            found = f"{used} examples and {asked} questions of {self.gsm8k_path}"
            raise ScenarioError("workload.num_requests", found, f"at most its {len(problems)} problems")
        order = (rng.permutation(len(problems) - used) + used).tolist()
        questions = (encode(f"Question: {problems[k].question}\nAnswer:") for k in order)
        return [(_examples(problems, k, self.num_examples, encode), questions) for k in range(num_contexts)]

    def _article_groups(
        self,
        articles: Sequence[Article],
        num_clusters: int,
        num_singletons: int,
        encode: Encode,
        rng: np.random.Generator,
    ) -> list[Group]:
        """SQuAD contexts, clusters first; those in one article take turns at its questions."""
        firsts = [(article, 0) for article in articles]
        others = [(article, p) for article in articles for p in range(1, len(article.paragraphs))]
        starts = [firsts[k] for k in rng.permutation(len(firsts))] + [others[k] for k in rng.permutation(len(others))]
        if num_clusters + num_singletons > len(starts):
            found = f"{num_clusters + num_singletons} SQuAD contexts"
            hint = "Name more files, or raise gsm8k_share."
            raise ScenarioError("workload.num_requests", found, f"at most {len(starts)}, one a paragraph", hint)
        pools = {id(article): _asked(article, encode, rng) for article in articles}
        chosen = starts[:num_clusters] + starts[len(starts) - num_singletons :]
        return [(self._context(article, start, encode), pools[id(article)]) for article, start in chosen]

    def _context(self, article: Article, start: int, encode: Encode) -> Tokens:
        """`article_tokens` of the article from paragraph `start` on, over its end and on from its beginning."""
        turned = article.paragraphs[start:] + article.paragraphs[:start]
        pieces, missing = [], self.article_tokens
        for paragraph in turned:
            pieces.append(encode(f"{paragraph}\n\n")[:missing])
            missing -= len(pieces[-1])
            if missing == 0:
                break
        return np.concatenate(pieces)


def _examples(problems: Sequence[Problem], start: int, count: int, encode: Encode) -> Tokens:
    """The few-shot prefix of `count` problems from `start` on; they are joined by blank lines, which no token spans."""
    return np.concatenate([encode(problem.example()) for problem in problems[start : start + count]])


def _asked(article: Article, encode: Encode, rng: np.random.Generator) -> Iterator[Tokens]:
    """The article's questions in random order, over and over."""
    order = rng.permutation(len(article.questions)).tolist()
    return (encode(f"\n\nQuestion: {article.questions[k].text}\nAnswer:") for k in itertools.cycle(order))

"""Stars: questions that share a long context (mixshare-P of the paper, §5), among prompts that share nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from sim.quantities import Count, NumRequests
from sim.requests import Demand
from sim.workloads._outputs import OutputTokens, draw_output_tokens
from sim.workloads._sharing import (
    STAR_EXPONENTS,
    Length,
    check_lengths,
    copy_prefixes,
    draw_lengths,
    private_prompts,
    shuffled_clusters,
    write_accidental_tokens,
)

__all__ = ["Stars"]


@dataclass(frozen=True, kw_only=True)
class Stars:
    """Clusters of questions behind a common prefix, mixed with singletons, in random order.

    A share `sharing` of the requests comes in clusters of `cluster_size` (the last one may be smaller); the rest
    are singletons. Clusters are numbered 0, 1, …, singletons after them.

    Attributes
    ----------
    num_requests : number of requests.
    output_tokens : tokens each generates, or a distribution.
    sharing : share of the requests that belong to a cluster, 0 to 1.
    cluster_size : requests in a cluster.
    prefix_tokens : tokens a cluster shares; a number or [low, high], drawn per cluster.
    question_tokens : tokens of a question behind it; a number or [low, high].
    singleton_tokens : tokens of a prompt outside the clusters; a number or [low, high].
    accidental_sharing : whether questions and singletons begin alike by accident, as real text does.
    """

    num_requests: NumRequests = 1024
    output_tokens: OutputTokens = 1
    sharing: Annotated[float, Field(ge=0, le=1)] = 0.5
    cluster_size: Count = 16
    prefix_tokens: Length = 900
    question_tokens: Length = (30, 80)
    singleton_tokens: Length = 950
    accidental_sharing: bool = True

    def __post_init__(self) -> None:
        check_lengths(
            prefix_tokens=self.prefix_tokens,
            question_tokens=self.question_tokens,
            singleton_tokens=self.singleton_tokens,
        )

    def recorded(self) -> frozenset[str]:
        """What the workload knows of users, values and arrivals: nothing."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Draw the requests; O(tokens)."""
        n = self.num_requests
        order = rng_stream("workload-order")
        cluster, num_clusters = shuffled_clusters(n, self.sharing, self.cluster_size, order)

        lengths = rng_stream("workload-lengths")
        question = draw_lengths(self.question_tokens, n, lengths)
        alone = draw_lengths(self.singleton_tokens, n, lengths)
        prefix = np.zeros(n, dtype=np.int64)
        clustered = cluster < num_clusters
        prefix[clustered] = draw_lengths(self.prefix_tokens, num_clusters, lengths)[cluster[clustered]]

        prompts = private_prompts(np.where(clustered, prefix + question, alone))
        _, first = np.unique(cluster, return_index=True)
        members = np.flatnonzero(clustered)
        copies = zip(members.tolist(), first[cluster[members]].tolist(), prefix[members].tolist(), strict=True)
        copy_prefixes(prompts, copies)
        if self.accidental_sharing:
            rng = rng_stream("workload-accidental")
            write_accidental_tokens(prompts, np.arange(n), prefix, STAR_EXPONENTS, rng)
        outputs = draw_output_tokens(self.output_tokens, n, rng_stream("workload-outputs"))
        return Demand(prompts=prompts, output_tokens=outputs, cluster=cluster)

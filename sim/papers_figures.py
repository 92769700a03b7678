"""What the paper reports of its workloads (§5), measured here and said beside its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.metrics import Metrics

__all__ = ["PAPERS_WORKLOADS", "gap_sentence", "gaps_to_bid_sort", "prompts_sentence"]


#: The paper's kinds of workload (§5), from real text and made up.
PAPERS_WORKLOADS = frozenset({"stars", "chains", "trees", "squad-gsm8k", "swe-agent", "tree-of-thought"})


def gaps_to_bid_sort(trials: Mapping[str, Sequence[Metrics]]) -> list[float]:
    """1 − welfare of dfs-bid / welfare of bid-sort, trial by trial; what caches cost in welfare (Proposition 2.4: ≤ ½).

    Empty where one of the two did not run, or created no welfare.

    >>> gaps_to_bid_sort({"dfs-bid": [{"welfare": 8.0}], "bid-sort": [{"welfare": 10.0}]})
    [0.19999999999999996]
    """
    both = zip(trials.get("dfs-bid", ()), trials.get("bid-sort", ()), strict=False)
    pairs = [(ours["welfare"], best["welfare"]) for ours, best in both]
    return [1 - ours / best for ours, best in pairs if ours is not None and best]


def gap_sentence(gap: Mapping[str, Any], scenario: Mapping[str, Any], num_requests: int) -> str:
    """The gap in words, from its mean, standard error and n, beside the paper's where the two can be compared.

    Parameters
    ----------
    scenario : as resolved.
    num_requests : of one trial, Q.

    >>> tiny = {"workload": {"kind": "stars"}, "arrivals": {"kind": "saturated"}, "batching": {"size": 256}}
    >>> gap_sentence({"mean": 0.161, "se": 0.003, "n": 3}, tiny, 256)[-46:]
    '3 trials; the paper measured 19–22 % at n = Q)'
    >>> gap_sentence({"mean": 0.05, "se": None, "n": 1}, tiny, 1024)[-102:]
    "one trial; not to be compared with the paper's 19–22 % at n = Q: auctions are of 256 of 1024 requests)"
    """
    error = "" if gap["se"] is None else f" ± {100 * gap['se']:.1f}"
    over = "one trial" if gap["n"] == 1 else f"paired over {gap['n']:,} trials"
    how = f"1 − welfare of dfs-bid / welfare of bid-sort, {over}"
    unlike = _unlike_the_paper(scenario, num_requests)
    papers = "19–22 % at n = Q"
    beside = f"the paper measured {papers}"
    if unlike:
        beside = f"not to be compared with the paper's {papers}: {', and '.join(unlike)}"
    return f"gap to bid-sort: {100 * gap['mean']:.1f}{error} % ({how}; {beside})"


def _unlike_the_paper(scenario: Mapping[str, Any], num_requests: int) -> list[str]:
    """In what a run differs from those the paper's gap is of."""
    blocks = (scenario.get(name) for name in ("workload", "arrivals", "batching"))
    workload, arrivals, batching = (block if isinstance(block, Mapping) else {} for block in blocks)
    kind, size = workload.get("kind"), batching.get("size")
    unlike = []
    if not isinstance(kind, str) or kind not in PAPERS_WORKLOADS:
        unlike.append(f"{kind or 'its'} requests are none of the paper's")
    if arrivals.get("kind") != "saturated":
        unlike.append("requests arrive over time")
    elif not isinstance(size, int) or size < num_requests:
        unlike.append(f"auctions are of {size} of {num_requests} requests")
    return unlike


def prompts_sentence(facts: Mapping[str, float]) -> str | None:
    """Length and sharing of real text, beside the paper's; None for workloads that do not measure themselves.

    >>> prompts_sentence({"mean_prompt_tokens": 1191.2, "sharing": 0.469})
    "prompts: 1,191 tokens on average, 46.9 % shared; the paper's workloads share 60–97 %"
    """
    if not {"mean_prompt_tokens", "sharing"} <= facts.keys():
        return None
    size, shared = f"{facts['mean_prompt_tokens']:,.0f} tokens on average", f"{100 * facts['sharing']:.1f} % shared"
    return f"prompts: {size}, {shared}; the paper's workloads share 60–97 %"

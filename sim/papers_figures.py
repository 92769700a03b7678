"""What the paper reports of its workloads (§5), measured here and said beside its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.metrics import Metrics

__all__ = ["gap_sentence", "gaps_to_bid_sort", "prompts_sentence"]


def gaps_to_bid_sort(trials: Mapping[str, Sequence[Metrics]]) -> list[float]:
    """1 − welfare of dfs-bid / welfare of bid-sort, trial by trial; what caches cost in welfare (Proposition 2.4: ≤ ½).

    Empty where one of the two did not run, or created no welfare.

    >>> gaps_to_bid_sort({"dfs-bid": [{"welfare": 8.0}], "bid-sort": [{"welfare": 10.0}]})
    [0.19999999999999996]
    """
    both = zip(trials.get("dfs-bid", ()), trials.get("bid-sort", ()), strict=False)
    pairs = [(ours["welfare"], best["welfare"]) for ours, best in both]
    return [1 - ours / best for ours, best in pairs if ours is not None and best]


def gap_sentence(gap: Mapping[str, Any]) -> str:
    """The gap in words, from its mean, standard error and n.

    >>> gap_sentence({"mean": 0.161, "se": 0.003, "n": 3}).split(" (")[0]
    'gap to bid-sort: 16.1 ± 0.3 %'
    """
    error = "" if gap["se"] is None else f" ± {100 * gap['se']:.1f}"
    over = "one trial" if gap["n"] == 1 else f"paired over {gap['n']:,} trials"
    how = f"1 − welfare of dfs-bid / welfare of bid-sort, {over}"
    return f"gap to bid-sort: {100 * gap['mean']:.1f}{error} % ({how}; the paper measured 19–22 % at n = Q)"


def prompts_sentence(facts: Mapping[str, float]) -> str | None:
    """Length and sharing of real text, beside the paper's; None for workloads that do not measure themselves.

    >>> prompts_sentence({"mean_prompt_tokens": 1191.2, "sharing": 0.469})
    "prompts: 1,191 tokens on average, 46.9 % shared; the paper's workloads share 60–97 %"
    """
    if not {"mean_prompt_tokens", "sharing"} <= facts.keys():
        return None
    size, shared = f"{facts['mean_prompt_tokens']:,.0f} tokens on average", f"{100 * facts['sharing']:.1f} % shared"
    return f"prompts: {size}, {shared}; the paper's workloads share 60–97 %"

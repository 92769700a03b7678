"""The κ bound of a batch, as the `kappa` command prints it (DESIGN.md, Files)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.bounds import WelfareBound, welfare_bound
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree, build_tree
from sim.batch_file import read_batch

__all__ = ["KappaOfBatch", "PricedBatch", "read_priced_batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedBatch:
    """n requests that compete in one auction: prompts as a tree, what they bid and what they are worth.

    Attributes
    ----------
    tree, bids, values : n requests.
    users : (n,) index into `user_names`.
    user_names, request_id : names.
    has_values : whether values are known apart from the bids.
    schedule, trial, batch : which auction of a run; None for a batch file.
    by_average_bid : whether average-bid DFS is how the batch was served, or would be.
    """

    tree: RadixTree
    bids: FloatArray
    values: FloatArray
    users: IntArray
    user_names: tuple[str, ...]
    request_id: tuple[str, ...]
    has_values: bool = True
    schedule: str | None = None
    trial: int | None = None
    batch: int | None = None
    by_average_bid: bool = True

    def __len__(self) -> int:
        return len(self.bids)


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaOfBatch:
    """Theorem 4.4 on one batch. `priced` is the batch, `bound` the theorem's quantities at its K nodes."""

    priced: PricedBatch
    bound: WelfareBound

    @classmethod
    def of(cls, priced: PricedBatch) -> KappaOfBatch:
        """Compute it; O(M + n log n)."""
        return cls(priced=priced, bound=welfare_bound(priced.tree, priced.bids, priced.values))

    @property
    def depth_tokens(self) -> IntArray:
        """(K,) tokens on the path from the root to each node."""
        return self.priced.tree.depth_tokens[self.bound.node]

    @property
    def num_requests(self) -> IntArray:
        """(K,) requests below each node."""
        return self.priced.tree.num_requests[self.bound.node]

    @property
    def num_children(self) -> IntArray:
        """(K,) children of each node."""
        return np.diff(self.priced.tree.indptr)[self.bound.node]

    @property
    def best_welfare(self) -> float:
        """The welfare of the best DFS order, in money."""
        return float(self.bound.total) / max(len(self.priced) - 1, 1)

    @property
    def allowed(self) -> FloatArray:
        """(K,) the loss the bound allows at each node, as a share of the best welfare: Ω(1 − 1/κ)/ΣΩ."""
        return self._share(self.bound.allowed)

    @property
    def lost(self) -> FloatArray:
        """(K,) the loss at each node, as a share of the best welfare."""
        return self._share(self.bound.lost)

    @property
    def weight(self) -> FloatArray:
        """(K,) Ω/ΣΩ: each node's share of the best welfare."""
        return self._share(self.bound.omega)

    def reasons(self) -> dict[int, str]:
        """Place in the K nodes → why κ is infinite there."""
        found = {}
        for place in np.flatnonzero(np.isinf(self.bound.kappa)).tolist():
            silent, worthless = int(self.bound.value_without_bid[place]), int(self.bound.bid_without_value[place])
            of = f"of {int(self.num_children[place]):,} children"
            parts = [f"{silent:,} {of} are worth something and bid nothing"] if silent else []
            parts += [f"{worthless:,} {of} bid and are worth nothing"] if worthless else []
            found[place] = "; ".join(parts) or "multipliers of its children differ by more than a double can hold"
        return found

    def to_json(self) -> dict[str, Any]:
        """The `kappa` JSON of DESIGN.md; nodes in preorder."""
        kappa = self.bound.kappa.tolist()
        columns = (self.depth_tokens, self.num_requests, self.num_children, self.bound.omega, self.allowed)
        nodes = [
            {
                "depth_tokens": depth,
                "requests": requests,
                "children": children,
                "kappa": None if math.isinf(k) else k,
                "omega": omega,
                "loss": loss,
            }
            for k, depth, requests, children, omega, loss in zip(kappa, *(c.tolist() for c in columns), strict=True)
        ]
        largest = max(kappa, default=1.0)
        return {
            "ratio": self.bound.ratio,
            "bound": self.bound.bound,
            "max_kappa": None if math.isinf(largest) else largest,
            "nodes": nodes,
            "excluded": [
                {"depth_tokens": nodes[place]["depth_tokens"], "requests": nodes[place]["requests"], "reason": reason}
                for place, reason in self.reasons().items()
            ],
        }

    def _share(self, amounts: FloatArray) -> FloatArray:
        return amounts / (self.bound.total or 1.0)


def read_priced_batch(path: Path, tokenizer: str | None = None) -> PricedBatch:
    """A batch file, arrivals in file order; a value that is not stated is the bid."""
    batch = read_batch(path, tokenizer=tokenizer)
    names = {name: number for number, name in enumerate(dict.fromkeys(batch.user))}
    return PricedBatch(
        tree=build_tree(batch.prompts),
        bids=batch.bid,
        values=batch.value,
        users=np.array([names[name] for name in batch.user], dtype=np.int64),
        user_names=tuple(names),
        request_id=batch.request_id,
        has_values=bool(batch.has_value.any()),
    )

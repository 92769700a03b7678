"""What the κ page tells beyond the theorem: a tighter bound, whose pacing costs, which siblings are inverted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanism.inversions import Siblings, largest_inversions, losses_by_overtaken
from mechanism.pacing_loss import median_multiplier, pacing_losses, user_totals
from mechanism.pair_bound import allowed_by_pairs
from mechanism.prompts import FloatArray
from sim.kappa import KappaOfBatch, PricedBatch

__all__ = ["USERS", "InvertedPair", "KappaDetails", "Sibling", "UserPacing", "examine", "inverted_pairs"]

#: A loss of less than this share of the best welfare is rounding.
NOTHING = 1e-12
#: Users of a batch whose pacing is priced at most.
USERS = 32
_REQUESTS = 10_000_000  # cleared again in all for that, about


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPacing:
    """One user in one batch.

    Attributes
    ----------
    name : who.
    num_requests, value, bid : his requests, what they are worth and what he bids for them, in all.
    cost : what the batch would win if he alone were paced like the median user, in money; None = not computed; 0 where
        nothing is lost.
    """

    name: str
    num_requests: int
    value: float
    bid: float
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaDetails:
    """One batch with what stands beside the theorem.

    Attributes
    ----------
    found : the theorem.
    allowed_by_pairs : (K,) the loss our pair bound allows at each node, as a share of the best welfare; between
        `found.lost` and `found.allowed`.
    median_multiplier : the multiplier Σb/Σv of the user in the middle of the value.
    users : who the batch belongs to.
    """

    found: KappaOfBatch
    allowed_by_pairs: FloatArray
    median_multiplier: float
    users: tuple[UserPacing, ...]

    @property
    def pair_bound(self) -> float:
        """The share of the best welfare that the pair bound guarantees, between the κ bound and what is realised."""
        lowest, highest = float(self.found.bound.bound), float(self.found.bound.ratio)
        return min(max(1.0 - float(self.allowed_by_pairs.sum()), lowest), highest)

    @property
    def impossible(self) -> bool:
        """Whether less came than Theorem 4.4 guarantees: then something is broken."""
        return bool(self.found.bound.ratio < self.found.bound.bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """One side of an inverted pair. `name` is the request's id, None for a subtree of several; averages in money."""

    name: str | None
    user: str | None
    num_requests: int
    average_value: float
    average_bid: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InvertedPair:
    """Two siblings below `depth_tokens` shared tokens: `ahead` is served first though `behind` is worth more on
    average; `lost` as a share of the best welfare.
    """

    depth_tokens: int
    ahead: Sibling
    behind: Sibling
    lost: float


def examine(found: KappaOfBatch) -> KappaDetails:
    """Work out the details of one batch.

    The costs of the `USERS` users paced most unlike the median are computed, of fewer in batches of more than some
    hundred thousand requests: each takes an auction of its own.
    """
    priced, bound = found.priced, found.bound
    lost, allowed = found.lost, found.allowed
    pairs = allowed
    if allowed.sum() > NOTHING:
        siblings = Siblings.of(priced.tree, priced.bids, priced.values)
        by_pairs = allowed_by_pairs(siblings)[bound.node] / (bound.total or 1.0)
        # small nodes beside giant ones lose digits; the truth lies between these two
        pairs = np.clip(by_pairs.astype(np.float64), lost, np.maximum(allowed, lost))
    bid, value = (user_totals(x, priced.users, len(priced.user_names)) for x in (priced.bids, priced.values))
    return KappaDetails(
        found=found,
        allowed_by_pairs=pairs,
        median_multiplier=float(median_multiplier(bid, value)),
        users=_users(found, bid, value),
    )


def inverted_pairs(found: KappaOfBatch, limit: int = 12) -> tuple[InvertedPair, ...]:
    """The costliest pairs of siblings that are served in the wrong order, the costliest first."""
    priced = found.priced
    if found.lost.sum() <= NOTHING:
        return ()
    siblings = Siblings.of(priced.tree, priced.bids, priced.values)
    lost, _ = losses_by_overtaken(siblings)
    tree, total = priced.tree, found.bound.total
    return tuple(
        InvertedPair(
            depth_tokens=int(tree.depth_tokens[tree.parent[pair.behind]]),
            ahead=_sibling(priced, pair.ahead),
            behind=_sibling(priced, pair.behind),
            lost=pair.lost / total,
        )
        for pair in largest_inversions(siblings, lost, limit)
        if pair.lost > NOTHING * total
    )


def _users(found: KappaOfBatch, bid: FloatArray, value: FloatArray) -> tuple[UserPacing, ...]:
    priced = found.priced
    limit = min(USERS, max(4, _REQUESTS // max(len(priced), 1)))
    costs: dict[int, float] = {}
    others: float | None = 0.0  # no loss, or all users who are not paced like the median are looked at
    if found.lost.sum() > NOTHING:
        who, cost = pacing_losses(priced.tree, priced.bids, priced.values, priced.users, len(bid), limit)
        costs = dict(zip(who.tolist(), (cost / max(len(priced) - 1, 1)).tolist(), strict=True))
        others = 0.0 if len(who) < limit else None
    sizes = np.bincount(priced.users, minlength=len(bid)).tolist()
    rows = zip(priced.user_names, sizes, value.tolist(), bid.tolist(), strict=True)
    return tuple(
        UserPacing(name=name, num_requests=size, value=worth, bid=said, cost=costs.get(user, others))
        for user, (name, size, worth, said) in enumerate(rows)
    )


def _sibling(priced: PricedBatch, vertex: int) -> Sibling:
    tree = priced.tree
    if vertex >= tree.num_nodes:
        request = int(tree.leaves[vertex - tree.num_nodes])
        user = priced.user_names[int(priced.users[request])]
        bid, value = float(priced.bids[request]), float(priced.values[request])
        return Sibling(name=priced.request_id[request], user=user, num_requests=1, average_value=value, average_bid=bid)
    below = tree.leaves[tree.start[vertex] : tree.stop[vertex]]
    owners = set(priced.users[below].tolist())
    return Sibling(
        name=None,
        user=priced.user_names[owners.pop()] if len(owners) == 1 else None,
        num_requests=len(below),
        average_value=float(priced.values[below].mean()),
        average_bid=float(priced.bids[below].mean()),
    )

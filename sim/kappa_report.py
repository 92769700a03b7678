"""Everything the κ page and the κ table show, of one batch or of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.kappa import KappaOfBatch
from sim.kappa_details import InvertedPair, KappaDetails, UserPacing, examine, inverted_pairs
from sim.kappa_tree import KappaNode, kappa_tree

__all__ = ["KappaGroup", "KappaPart", "KappaReport", "UserTotal", "report_kappa"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTotal:
    """One user over all batches of a group. `cost` in shares of the group's best welfare; None = never computed."""

    name: str
    num_requests: int
    value: float
    bid: float
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaGroup:
    """The batches of one schedule, or the one batch of a file; shares are of the best welfare of all of them.

    Attributes
    ----------
    schedule : its label; None for a file.
    by_average_bid : whether the batches were served by average-bid DFS. If not, `realised` is what that would have made
        of their bids.
    batches : at least one, by trial and batch.
    guaranteed, by_pairs, realised : Σ bound·W over Σ W with W the best welfare of each batch: what the theorem
        guarantees of the welfare of all, what our pair bound does, and what came.
    worst : place of the batch with the largest loss allowed, in money.
    """

    schedule: str | None
    by_average_bid: bool
    batches: tuple[KappaDetails, ...]
    guaranteed: float
    by_pairs: float
    realised: float
    worst: int

    @classmethod
    def of(cls, batches: Sequence[KappaDetails]) -> KappaGroup:
        """Weigh up the batches of one schedule."""
        first = batches[0].found.priced
        best = [each.found.best_welfare for each in batches]
        total = sum(best)

        def weighed(shares: Sequence[float]) -> float:
            return sum(w * s for w, s in zip(best, shares, strict=True)) / total if total > 0 else 1.0

        at_stake = [w * (1 - each.found.bound.bound) for w, each in zip(best, batches, strict=True)]
        return cls(
            schedule=first.schedule,
            by_average_bid=first.by_average_bid,
            batches=tuple(batches),
            guaranteed=weighed([each.found.bound.bound for each in batches]),
            by_pairs=weighed([each.pair_bound for each in batches]),
            realised=weighed([each.found.bound.ratio for each in batches]),
            worst=at_stake.index(max(at_stake)),
        )

    @property
    def best_welfare(self) -> float:
        """Σ of the batches' best welfare, in money."""
        return sum(each.found.best_welfare for each in self.batches)

    def users(self) -> tuple[UserTotal, ...]:
        """Every user over all batches, the costliest pacing first, then by value."""
        rows: dict[str, list[UserPacing]] = {}
        for batch in self.batches:
            for user in batch.users:
                rows.setdefault(user.name, []).append(user)
        total = self.best_welfare or 1.0
        found = []
        for name, parts in rows.items():
            costs = [part.cost for part in parts if part.cost is not None]
            found.append(
                UserTotal(
                    name=name,
                    num_requests=sum(part.num_requests for part in parts),
                    value=sum(part.value for part in parts),
                    bid=sum(part.bid for part in parts),
                    cost=sum(costs) / total if costs else None,
                )
            )
        return tuple(sorted(found, key=lambda user: (-(user.cost or 0.0), -user.value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaPart:
    """The batch of a group that is shown, the one with the largest loss allowed: its nodes that matter, its pairs."""

    shown: KappaDetails
    tree: tuple[KappaNode, ...]
    pairs: tuple[InvertedPair, ...]

    @classmethod
    def of(cls, group: KappaGroup) -> KappaPart:
        """Look into the batch."""
        shown = group.batches[group.worst]
        return cls(shown=shown, tree=kappa_tree(shown.found), pairs=inverted_pairs(shown.found))


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaReport:
    """What there is to tell.

    Attributes
    ----------
    source : the file or folder.
    is_run : whether it is a run.
    groups : one a schedule, those served by average-bid DFS first, then by the largest loss allowed, in money; empty
        for a run without an auction.
    parts : what is shown of each.
    """

    source: str
    is_run: bool
    groups: tuple[KappaGroup, ...]
    parts: tuple[KappaPart, ...]

    @property
    def main_groups(self) -> tuple[KappaGroup, ...]:
        """The groups served by average-bid DFS, which the theorem is about; the first one where there are none."""
        return tuple(group for group in self.groups if group.by_average_bid) or self.groups[:1]

    @property
    def shown(self) -> KappaDetails | None:
        """The batch that is shown first."""
        return self.parts[0].shown if self.parts else None


def report_kappa(source: str, found: Sequence[KappaOfBatch], *, is_run: bool) -> KappaReport:
    """Examine every batch. O(Σ (M + n log² n)) and at most sixteen more clearings a batch, where something is lost."""
    by_schedule: dict[str | None, list[KappaDetails]] = {}
    for each in found:
        by_schedule.setdefault(each.priced.schedule, []).append(examine(each))
    groups = sorted(
        (KappaGroup.of(batches) for batches in by_schedule.values()),
        key=lambda group: (not group.by_average_bid, -group.best_welfare * (1 - group.guaranteed)),
    )
    parts = tuple(map(KappaPart.of, groups))
    return KappaReport(source=source, is_run=is_run, groups=tuple(groups), parts=parts)

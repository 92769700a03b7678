"""Who owns which request: the `users:` block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.prompts import IntArray
from sim.errors import ScenarioError
from sim.quantities import NumRequests
from sim.requests import Demand

__all__ = ["KINDS", "FromTrace", "Owners", "PerCluster", "PerRequest", "RandomUsers", "Users"]

#: (n,) int64 user index of each request, and the users' names.
Owners = tuple[IntArray, tuple[str, ...]]


@dataclass(frozen=True)
class PerRequest:
    """Every request is a user of its own, named by the request's id."""

    kind: ClassVar[str] = "per-request"

    def owners(self, demand: Demand, ids: tuple[str, ...], _rng: np.random.Generator) -> Owners:
        """Index of each request's owner, and the owners' names."""
        return np.arange(len(demand.prompts), dtype=np.int64), ids


@dataclass(frozen=True)
class PerCluster:
    """A star, chain, tree or session is one user; a singleton is its own."""

    kind: ClassVar[str] = "per-cluster"

    def owners(self, demand: Demand, _ids: tuple[str, ...], _rng: np.random.Generator) -> Owners:
        """Index of each request's owner, and the owners' names."""
        clusters, index = np.unique(demand.cluster, return_inverse=True)
        return index.astype(np.int64), tuple(f"cluster-{c}" for c in clusters.tolist())


@dataclass(frozen=True)
class RandomUsers:
    """Each request belongs to one of `count` users, drawn uniformly and independently.

    Attributes
    ----------
    count : number of users.
    """

    count: NumRequests
    kind: ClassVar[str] = "random"

    def owners(self, demand: Demand, _ids: tuple[str, ...], rng: np.random.Generator) -> Owners:
        """Index of each request's owner, and the owners' names."""
        index = rng.integers(self.count, size=len(demand.prompts), dtype=np.int64)
        return index, tuple(f"user-{u}" for u in range(self.count))


@dataclass(frozen=True)
class FromTrace:
    """The recorded owners, numbered in order of first appearance."""

    kind: ClassVar[str] = "from-trace"

    def owners(self, demand: Demand, _ids: tuple[str, ...], _rng: np.random.Generator) -> Owners:
        """Index of each request's owner, and the owners' names."""
        if demand.user is None:
            raise ScenarioError("users.kind", "from-trace", "a workload that records users")
        number: dict[str, int] = {}
        index = [number.setdefault(name, len(number)) for name in demand.user]
        return np.array(index, dtype=np.int64), tuple(number)


Users = PerRequest | PerCluster | RandomUsers | FromTrace

KINDS: dict[str, type[Users]] = {cls.kind: cls for cls in (PerRequest, PerCluster, RandomUsers, FromTrace)}

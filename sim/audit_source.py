"""What an audit was asked for: enough to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["AuditSettings", "AuditSource"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """How much is tried.

    Attributes
    ----------
    users : at most so many users, or pairs of users, for each kind of lie and batch.
    auctions : at most so many batches of a scenario.
    seed : of the choice of batches, users and random splits.
    """

    users: int = 12
    auctions: int = 2
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSource:
    """Where an audit's requests come from.

    Attributes
    ----------
    name : the batch file or scenario.
    options : of the command line, with their values; those that were not given and have no default are left out.
    config_hash : of the resolved scenario; None for a batch file.
    notes : what the reader must know about what was audited.
    """

    name: str
    options: Mapping[str, Any]
    config_hash: str | None
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        name: str,
        options: Mapping[str, Any],
        settings: AuditSettings,
        *,
        notes: Sequence[str] = (),
        config_hash: str | None = None,
    ) -> AuditSource:
        """From the options that belong to the kind of source, and those that all audits have."""
        given = {key: value for key, value in options.items() if value not in (None, [])}
        given |= {"--users": settings.users, "--seed": settings.seed}
        return cls(name=name, options=given, config_hash=config_hash, notes=tuple(notes))

    @property
    def command(self) -> str:
        """The command line that does this audit again.

        >>> AuditSource.of("a b.yaml", {"--set": ["trials=2"], "--auctions": 2}, AuditSettings()).command
        "inference-auctions audit 'a b.yaml' --set trials=2 --auctions 2 --users 12 --seed 0"
        """
        words = ["inference-auctions", "audit", self.name]
        for option, value in self.options.items():
            for each in value if isinstance(value, list) else [value]:
                words += [option, str(each)]
        return shlex.join(words)

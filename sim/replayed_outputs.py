"""A live run's outputs, overheard, for a simulated server to generate: what enters the cache is then the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import simpy

from mechanism.prompts import Prompts
from sim.backend import Backend, BackendConfig, Limits, Served
from sim.requests import RequestTable

__all__ = ["Fed", "Recording"]


@dataclass(frozen=True)
class Recording:
    """A live configuration that remembers the limits of its server and what it generated, by (schedule, trial)."""

    config: BackendConfig
    outputs: dict[tuple[str, int], dict[int, tuple[int, ...]]] = field(default_factory=dict)
    backends: list[Backend] = field(default_factory=list)

    @property
    def limits(self) -> Limits:
        """Of the server, once it was asked."""
        return self.backends[-1].limits

    @contextmanager
    def open(self) -> Iterator[Recording]:
        """What is wrapped is open already."""
        yield self

    def environment(self) -> simpy.Environment:
        """That of the wrapped configuration."""
        return self.config.environment()

    def card(self) -> dict[str, Any] | None:
        """That of the wrapped configuration."""
        return self.config.card()

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> Backend:
        """A backend whose answers are remembered."""
        backend = self.config.create(requests, schedule, trial)
        listening = _Listening(backend, self.outputs.setdefault((schedule, trial), {}))
        self.backends.append(listening)
        return listening


class _Listening:
    """A backend whose answers are overheard."""

    def __init__(self, backend: Backend, outputs: dict[int, tuple[int, ...]]) -> None:
        self._backend, self._outputs = backend, outputs
        self.limits, self.engine_steps, self.notes = backend.limits, backend.engine_steps, backend.notes

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        def heard(served: Served) -> None:
            self._outputs[served.index] = served.output_ids or ()
            on_event(served)

        self._backend.start(env, heard)
        self.limits = self._backend.limits

    def submit(self, requests: Sequence[int]) -> None:
        self._backend.submit(requests)

    def close(self) -> None:
        self._backend.close()


@dataclass(frozen=True)
class Fed:
    """A simulated configuration whose server generates what the live one did.

    Attributes
    ----------
    outputs : by (schedule, trial), then by table index.
    shares_ids : whether the prompts' symbols are the live server's token ids; else no prompt contains an output.
    """

    config: BackendConfig
    outputs: Mapping[tuple[str, int], Mapping[int, tuple[int, ...]]]
    shares_ids: bool

    @contextmanager
    def open(self) -> Iterator[Fed]:
        """What is wrapped is open already."""
        yield self

    def environment(self) -> simpy.Environment:
        """That of the wrapped configuration."""
        return self.config.environment()

    def card(self) -> dict[str, Any] | None:
        """That of the wrapped configuration."""
        return self.config.card()

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> Backend:
        """A backend for these requests with the outputs that the live server gave."""
        known = self.outputs.get((schedule, trial), {})
        rows = [known.get(index, ()) for index in range(len(requests))]
        if not self.shares_ids:
            rows = [tuple(-1 - token for token in row) for row in rows]
        generated = Prompts.from_lists(rows)
        fed = replace(requests, output_ids=generated) if any(known.values()) else requests
        return self.config.create(fed, schedule, trial)

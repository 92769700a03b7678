"""The market's view of a live server: submit in order, hear of each end once, in the market's own thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import simpy

from backends._answers import Answer, Dialect
from sim.backend import EngineSteps, Limits, Notes, Served, Status
from sim.clock import NS_PER_S
from sim.realtime import RealTimeEnvironment

if TYPE_CHECKING:
    from backends._client import ClientSettings

__all__ = ["LiveBackend", "LiveServer", "inversions"]


class LiveServer(Protocol):
    """What is particular to a kind of server."""

    def prepare(self, notes: Notes) -> tuple[Dialect, Limits]:
        """Wait until it answers, empty its cache, enter what it is; BackendError says what to do."""

    def conclude(self, notes: Notes, answers: Sequence[Answer]) -> None:
        """Enter what can be said when the last answer is there; `answers` are in order of submission."""


@dataclass(slots=True)
class _Run:
    """What exists between start and close."""

    env: RealTimeEnvironment
    on_event: Callable[[Served], None]


class LiveBackend:
    """One run on a live server (see `sim.backend.Backend`); needs a `RealTimeEnvironment`."""

    def __init__(self, server: LiveServer, settings: ClientSettings) -> None:
        self.limits = Limits()
        self.engine_steps: EngineSteps = []
        self.notes = Notes()
        self.answers: list[Answer] = []
        self._server, self._settings = server, settings
        self._closed = False

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        """Wait for the server, then open the client."""
        from backends._client import Client

        assert isinstance(env, RealTimeEnvironment)
        self._run = _Run(env, on_event)
        dialect, self.limits = self._server.prepare(self.notes)
        self._client = Client(self._settings, dialect, self._report, self._crashed)
        self._client.start()

    def submit(self, requests: Sequence[int]) -> None:
        """Send in this order, after everything submitted before."""
        self.answers.extend(self._client.submit(requests))

    def close(self) -> None:
        """Drop what is under way and look at the server once more."""
        if self._closed or not hasattr(self, "_client"):
            return
        self._closed = True
        self._client.close()
        self._server.conclude(self.notes, self.answers)

    # ---- the client's thread

    def _report(self, answer: Answer, status: Status, error: str | None) -> None:
        served = self._served(answer, status, error)
        self._run.env.post(lambda: self._run.on_event(served))

    def _crashed(self, error: BaseException) -> None:
        def tell() -> None:
            raise error

        self._run.env.post(tell)

    def _served(self, answer: Answer, status: Status, error: str | None) -> Served:
        def on_market_clock(at_ns: int | None) -> int | None:
            return None if at_ns is None else self._run.env.elapsed_ns(at_ns)

        sent_ns = on_market_clock(answer.sent_ns)
        admitted = None
        if sent_ns is not None and answer.queued_s is not None:
            admitted = sent_ns + round(answer.queued_s * NS_PER_S)
        return Served(
            index=answer.index,
            status=status,
            sent_ns=sent_ns,
            admitted_ns=admitted,
            first_token_ns=on_market_clock(answer.first_token_ns),
            finish_ns=on_market_clock(answer.finish_ns) if status == "ok" else None,
            cached_tokens=answer.cached_tokens,
            output_tokens=answer.output_tokens,
            output_ids=answer.output_ids,
            num_retractions=answer.num_retractions,
            error=error,
        )


def inversions(answers: Sequence[Answer]) -> tuple[int, int]:
    """How often the server took a request before one that was submitted earlier, and how many it dated.

    Counted are requests that entered before the latest entry among their predecessors.

    >>> inversions([Answer(0, entered_s=1.0), Answer(1, entered_s=3.0), Answer(2), Answer(3, entered_s=2.0)])
    (1, 3)
    """
    latest, count, dated = float("-inf"), 0, 0
    for answer in answers:
        if answer.entered_s is None:
            continue
        dated += 1
        count += answer.entered_s < latest
        latest = max(latest, answer.entered_s)
    return count, dated

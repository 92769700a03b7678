"""A few requests to SGLang outside any market: sent in turn or as one list, timed, and waited for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backends._answers import Answer
from backends._client import Client, ClientSettings
from backends._sglang_server import GenerateDialect
from sim.backend import Status
from sim.errors import BackendError

__all__ = ["Ask", "ask_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: its tokens, how many it generates, and a priority where one is to be sent."""

    prompt: Sequence[int]
    output_tokens: int = 1
    priority: int | None = None


class _ProbeDialect(GenerateDialect):
    """As in a run, with priorities; one post for all, or one each."""

    def __init__(self, asks: Sequence[Ask], *, together: bool) -> None:
        super().__init__(lambda index: list(asks[index].prompt), [ask.output_tokens for ask in asks])
        self._asks, self.grouped = asks, together

    def body(self, requests: Sequence[int]) -> dict[str, Any]:
        """The body of a run's request; SGLang takes one priority a post."""
        priority = self._asks[requests[0]].priority
        return super().body(requests) | ({} if priority is None else {"priority": priority})


def ask_all(settings: ClientSettings, asks: Sequence[Ask], *, together: bool = False) -> list[Answer]:
    """Send these requests and wait for all of them; answers are in the order of `asks`.

    Parameters
    ----------
    together : one post, so that all are queued before the first pass; else each as soon as the one before is written.

    Raises
    ------
    BackendError
        One of them failed.
    """
    everybody, problems = threading.Semaphore(0), list[str]()

    def report(_: Answer, status: Status, error: str | None) -> None:
        if status != "ok":
            problems.append(f"{status}: {error}")
        everybody.release()

    def crashed(error: BaseException) -> None:
        problems.append(repr(error))
        for _ in asks:
            everybody.release()

    client = Client(settings, _ProbeDialect(asks, together=together), report, crashed)
    client.start()
    try:
        answers = client.submit(range(len(asks)))
        for _ in asks:
            everybody.acquire()
    finally:
        client.close()
    if problems:
        raise BackendError(f"{settings.url}/generate: {problems[0]}")
    return answers

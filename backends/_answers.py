"""What comes back from a live server about one request, and how its protocol is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sim.backend import Status

__all__ = ["Answer", "Dialect", "ServerSaidError", "outcome"]


class ServerSaidError(Exception):
    """The server answered, and the answer is no answer: an error in words, or nothing that can be read."""


@dataclass(slots=True)
class Answer:
    """One request as seen from here, growing while its stream is read. Times are `time.monotonic_ns`.

    Attributes
    ----------
    index : the request's index in the table.
    sent_ns : the last byte of the request was handed to the operating system.
    first_token_ns, finish_ns : the first token of any channel, and the end of a whole answer, were read.
    first_content_ns : the first token of the answer proper, where reasoning comes before it.
    output_tokens : tokens received so far.
    cached_tokens : what the server said it had cached; None = it did not say, which is not 0.
    queued_s : the server's own measure of the wait before admission.
    entered_s : when the request reached the server's scheduler, on the server's clock; its order proves ours.
    prefilled_s : when the server had its first token, on the same clock.
    ended, error : the server has said all about it, and, where that is a failure, what.
    reported : its end was told to whoever waits for it.
    """

    index: int
    sent_ns: int | None = None
    first_token_ns: int | None = None
    first_content_ns: int | None = None
    finish_ns: int | None = None
    output_tokens: int = 0
    output_ids: tuple[int, ...] | None = None
    cached_tokens: int | None = None
    num_retractions: int = 0
    queued_s: float | None = None
    entered_s: float | None = None
    prefilled_s: float | None = None
    ended: bool = False
    error: str | None = None
    reported: bool = False

    def saw_token(self, at_ns: int) -> None:
        """A token of any channel was read; the first one counts."""
        if self.first_token_ns is None:
            self.first_token_ns = at_ns

    def end(self, at_ns: int) -> None:
        """The whole answer is there."""
        self.ended, self.finish_ns = True, at_ns

    def fail(self, error: str) -> None:
        """The server has given this request up."""
        self.ended, self.error = True, error


class Dialect(Protocol):
    """A protocol that streams answers as server-sent events.

    Attributes
    ----------
    path : where requests are posted.
    grouped : whether one post may carry many requests, which the server then queues in that order.
    """

    path: str
    grouped: bool

    def body(self, requests: Sequence[int]) -> dict[str, Any]:
        """The JSON that asks for these requests."""

    def read(self, event: dict[str, Any], answers: Sequence[Answer], at_ns: int) -> Sequence[Answer]:
        """Enter an event that was read at `at_ns` and return the answers it touched.

        Raises ServerSaidError where the event makes no sense or speaks for the whole stream.
        """

    def end(self, answers: Sequence[Answer], at_ns: int) -> None:
        """The server says that the stream is over."""


def outcome(answer: Answer, status: Status = "ok", why: str | None = None) -> tuple[Status, str | None]:
    """The status of an answer that ended; a whole answer without a token is an error, and errors name what came.

    >>> outcome(Answer(0, ended=True, finish_ns=5))
    ('error', 'no token in the whole answer')
    >>> outcome(Answer(0, output_tokens=3), "timeout", "too late")
    ('timeout', 'too late (after 3 tokens)')
    """
    if answer.error is not None:
        status, why = "error", answer.error
    if status == "ok" and answer.first_token_ns is None:
        return "error", "no token in the whole answer"
    if status != "ok" and answer.output_tokens:
        return status, f"{why} (after {answer.output_tokens} tokens)"
    return status, why

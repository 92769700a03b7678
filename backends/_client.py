"""The client: an asyncio loop in a thread of its own, which sends requests strictly in turn and reads their streams."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import StreamWriter
from aiohttp.payload import Payload

from backends._answers import Answer, Dialect, ServerSaidError, outcome
from backends._sse import EventStream
from sim.backend import Status

__all__ = ["Client", "ClientSettings"]

#: Called in the client's thread, once for every request, in any order.
Report = Callable[[Answer, Status, str | None], None]
#: Before the second attempt, s; doubled before each further one.
PAUSE_S = 0.05
#: Answers that say "not now": nothing was generated, so the request may be sent again.
NOT_NOW = frozenset({429, 503})


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """Where requests go and how long an answer may take.

    Attributes
    ----------
    url : of the server, without the path.
    headers : of every request.
    timeout_s : from the start of sending to the end of the answer.
    retries : further attempts where nothing can have been generated: connection refused, or 429, or 503.
    """

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    timeout_s: float
    retries: int


class _TryAgainError(Exception):
    """The server did not take the request."""


class _InTurn(Payload):
    """A body that says when the operating system has all of it: only then may the next request be written."""

    def __init__(self, body: bytes, written: Callable[[], None]) -> None:
        super().__init__(body, content_type="application/json")
        self._body, self._written = body, written

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._body)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text."""
        return self._body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write all, and wait until the transport's own buffer is empty."""
        if isinstance(writer, StreamWriter) and writer.transport is not None:
            writer.transport.set_write_buffer_limits(high=0)
        await writer.write(self._body)
        await writer.drain()
        self._written()


class Client:
    """Sends requests in the order of `submit` and reports each of them exactly once.

    Parameters
    ----------
    report : takes each answer with its status and, where it is not ok, why.
    crashed : takes the exception if the client itself fails; nothing is reported afterwards.
    """

    def __init__(
        self, settings: ClientSettings, dialect: Dialect, report: Report, crashed: Callable[[BaseException], None]
    ) -> None:
        self._settings, self._dialect, self._report, self._crashed = settings, dialect, report, crashed
        self._thread = threading.Thread(target=self._run, name="client", daemon=True)
        self._running = threading.Event()

    def start(self) -> None:
        """Begin to take requests."""
        self._thread.start()
        self._running.wait()

    def submit(self, requests: Sequence[int]) -> list[Answer]:
        """Send these requests after all earlier ones; returns their answers, which grow. From any thread."""
        answers = [Answer(index) for index in requests]
        size = len(answers) if self._dialect.grouped else 1
        for first in range(0, len(answers), size):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, answers[first : first + size])
        return answers

    def close(self) -> None:
        """Drop what is under way, unreported, and end the thread; safe to call twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
            self._thread.join()

    # ---- the client's thread

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # whatever it is, whoever waits for answers must hear of it
            self._crashed(error)
        finally:
            self._running.set()

    async def _serve(self) -> None:
        self._loop, self._queue = asyncio.get_running_loop(), asyncio.Queue[list[Answer] | None]()
        self._running.set()
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            tasks: set[asyncio.Task[None]] = set()
            while (answers := await self._queue.get()) is not None:
                written = asyncio.Event()
                task = asyncio.create_task(self._exchange(session, answers, written))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                task.add_done_callback(self._look_for_crash)
                await written.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _look_for_crash(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._crashed(error)

    async def _exchange(self, session: aiohttp.ClientSession, answers: list[Answer], written: asyncio.Event) -> None:
        """One post and its whole stream; reports every answer."""
        status: Status
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                await self._attempt(session, answers, written)
            status, why = "incomplete", "the stream ended before the answer did"
        except TimeoutError:
            status, why = "timeout", f"no whole answer within {self._settings.timeout_s:g} s"
        except (ServerSaidError, _TryAgainError) as error:
            status, why = "error", str(error)
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            status, why = self._broken(answers), f"the connection broke: {error or type(error).__name__}"
        except (aiohttp.ClientError, OSError) as error:
            status, why = "error", f"{error or type(error).__name__}"
        finally:
            written.set()
        for answer in answers:
            if not answer.reported:
                answer.reported = True
                self._report(answer, *outcome(answer, status, why))

    @staticmethod
    def _broken(answers: list[Answer]) -> Status:
        return "incomplete" if any(answer.first_token_ns is not None for answer in answers) else "error"

    async def _attempt(self, session: aiohttp.ClientSession, answers: list[Answer], written: asyncio.Event) -> None:
        body = json.dumps(self._dialect.body([answer.index for answer in answers])).encode()
        attempt = 0
        while True:
            try:
                await self._stream(session, body, answers, written)
            except (aiohttp.ClientConnectorError, _TryAgainError):
                if attempt == self._settings.retries:
                    raise
                await asyncio.sleep(PAUSE_S * 2**attempt)
                attempt += 1
            else:
                return

    async def _stream(
        self, session: aiohttp.ClientSession, body: bytes, answers: list[Answer], written: asyncio.Event
    ) -> None:
        def sent() -> None:
            now = monotonic_ns()
            for answer in answers:
                answer.sent_ns = now
            written.set()

        url = self._settings.url.rstrip("/") + self._dialect.path
        async with session.post(url, data=_InTurn(body, sent), headers=self._settings.headers) as response:
            await self._check(response)
            events = EventStream()
            async for chunk in response.content.iter_any():
                now = monotonic_ns()
                for data in events.feed(chunk):
                    if data.strip() == "[DONE]":
                        self._dialect.end(answers, now)
                        self._report_whole(answers)
                        return
                    self._report_whole(self._dialect.read(_parsed(data), answers, now))

    @staticmethod
    async def _check(response: aiohttp.ClientResponse) -> None:
        """Raise unless the answer is a stream of events."""
        if response.status == 200 and response.content_type == "text/event-stream":
            return
        start = (await response.content.read(300)).decode("utf-8", errors="replace").strip()
        said = f"the server answered {response.status} {response.reason}: {start}"
        raise _TryAgainError(said) if response.status in NOT_NOW else ServerSaidError(said)

    def _report_whole(self, touched: Iterable[Answer]) -> None:
        for answer in touched:
            if answer.ended and not answer.reported:
                answer.reported = True
                self._report(answer, *outcome(answer))


def _parsed(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except ValueError as error:
        raise ServerSaidError(f"an event that is no JSON: {data[:80]}") from error
    if not isinstance(event, dict):
        raise ServerSaidError(f"an event that is no object: {data[:80]}")
    if "error" in event:
        said = event["error"]
        raise ServerSaidError(str(said.get("message", said)) if isinstance(said, dict) else str(said))
    return event

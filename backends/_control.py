"""Plain requests to a server outside any run: is it there, what does it say of itself. Blocking, with messages."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from sim.errors import BackendError

__all__ = ["ANSWER_S", "FAREWELL_S", "Control", "NoSuchPathError", "authorization", "counters"]

#: Straight to the server, as the runs' client goes: a proxy would be measured too.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
#: An answer to a plain question takes longer only where nothing works.
ANSWER_S = 30.0
#: At the end of a run, where somebody who pressed Ctrl-C may be waiting, it has less time.
FAREWELL_S = 5.0
#: Between two attempts to reach a server that is starting.
PAUSE_S = 0.5


def authorization(api_key_env: str | None) -> dict[str, str]:
    """The header for the key in an environment variable; BackendError where the variable is named and not set."""
    if api_key_env is None:
        return {}
    key = os.environ.get(api_key_env)
    if not key:
        raise BackendError(f"The environment variable {api_key_env} (backend.api_key_env) holds no key; set it.")
    return {"Authorization": f"Bearer {key}"}


class NoSuchPathError(BackendError):
    """The server is there and knows no such path: it is another kind of server."""


class Control:
    """Questions to the server at `url`. Every method raises BackendError, saying what to do, when no answer comes."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        self.url, self._headers = url.rstrip("/"), headers or {}

    def get(self, path: str, timeout_s: float = ANSWER_S) -> Any:
        """The JSON at a path."""
        return self._json(path, self._ask(path, None, timeout_s))

    def text(self, path: str, timeout_s: float = ANSWER_S) -> str:
        """The text at a path."""
        return self._ask(path, None, timeout_s).decode("utf-8", errors="replace")

    def post(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = ANSWER_S) -> Any:
        """The JSON that answers a posted JSON object."""
        return self._json(path, self._ask(path, body or {}, timeout_s))

    def tell(self, path: str, timeout_s: float = ANSWER_S) -> None:
        """Post nothing, expect success and no particular answer."""
        self._ask(path, {}, timeout_s)

    def wait_until(
        self, ready: Callable[[], object], timeout_s: float, alive: Callable[[], None] = lambda: None
    ) -> None:
        """Call `ready` until it raises no BackendError; after `timeout_s` its last one is the reason given.

        `alive` is called before every attempt; its BackendError ends the wait.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            alive()
            try:
                ready()
            except BackendError as error:
                if time.monotonic() + PAUSE_S > deadline:
                    message = f"The server at {self.url} was not ready within {timeout_s:g} s. Last answer: {error}"
                    raise BackendError(message) from error
                time.sleep(PAUSE_S)
            else:
                return

    def _ask(self, path: str, body: dict[str, Any] | None, timeout_s: float) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, **({} if data is None else {"Content-Type": "application/json"})}
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        try:
            with _OPENER.open(request, timeout=timeout_s) as answer:
                content: bytes = answer.read()
        except urllib.error.HTTPError as error:
            detail = error.read(300).decode("utf-8", errors="replace").strip()
            kind = NoSuchPathError if error.code == HTTPStatus.NOT_FOUND else BackendError
            raise kind(f"{self.url}{path} answered {error.code} {error.reason}: {detail}") from error
        except (OSError, ValueError) as error:  # refused, reset, timed out, no such host, half an answer, no address
            reason = getattr(error, "reason", None) or error
            raise BackendError(f"{self.url}{path}: {reason}. Is the server running at that address?") from error
        return content

    def _json(self, path: str, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError as error:
            start = content[:80].decode("utf-8", errors="replace")
            raise BackendError(f"{self.url}{path} answered {start!r}, which is no JSON.") from error


def counters(text: str, names: Iterable[str]) -> dict[str, float]:
    """Prometheus counters by name, summed over their labels; a counter that nobody raised yet is absent.

    >>> counters('a_total{x="1"} 2\\na_total{x="2"} 3.0\\nb_total 1', ["a_total", "c_total"])
    {'a_total': 5.0}
    """
    wanted, found = set(names), dict[str, float]()
    for line in text.splitlines():
        name, _, rest = line.partition("{") if "{" in line else line.partition(" ")
        if name in wanted:
            value = rest.rpartition("}")[2].split()[0]
            found[name] = found.get(name, 0.0) + float(value)
    return found

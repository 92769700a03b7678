"""A server process of our own: started, watched, and stopped by its process id, also when we are killed."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sim.errors import BackendError

__all__ = ["ServerProcess", "free_port", "server_process"]

#: A server that was told to stop may take this long before it is killed, s.
STOP_S = 20.0
#: Linux: the signal a child gets when its parent dies (prctl(2)).
PR_SET_PDEATHSIG = 1


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class ServerProcess:
    """A running server process and its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self._process, self._log = process, log

    @property
    def pid(self) -> int:
        """The process id, which is also that of its process group."""
        return self._process.pid

    def check(self) -> None:
        """BackendError with the end of its log if it has ended."""
        code = self._process.poll()
        if code is not None:
            raise BackendError(f"The server process ended with code {code}. The end of its log:\n{self._tail()}")

    def stop(self) -> None:
        """Ask it to end, then make it end; its children with it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return
            try:
                self._process.wait(timeout=STOP_S)
            except subprocess.TimeoutExpired:
                continue

    def _tail(self, lines: int = 12) -> str:
        text = Path(self._log.name).read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])


@contextmanager
def server_process(command: Sequence[str], env: Mapping[str, str]) -> Iterator[ServerProcess]:
    """Run `command`; it is gone when the block ends, in whatever way.

    Raises
    ------
    BackendError
        There is no such program.
    """
    with tempfile.NamedTemporaryFile(prefix="inference-auctions-server-", suffix=".log") as log:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        except OSError as error:
            raise BackendError(f"{command[0]} (backend.launch.python) cannot be started: {error.strerror}.") from error
        server = ServerProcess(process, log)
        try:
            yield server
        finally:
            server.stop()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

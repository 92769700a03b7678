"""A server process of our own: started, watched, and stopped by its process id, also when we are killed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
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

SUPERVISOR = Path(__file__).with_name("_supervisor.py")
#: Below the ephemeral ports of every usual system (Linux begins at 32768, IANA at 49152).
PORTS = range(20_000, 32_000)
#: The supervisor's own patience, and a little more, s.
STOP_S = 20.0


def free_port() -> int:
    """A loopback port nobody listens on, below those that outgoing connections are given.

    A server binds its port only when its model is loaded; a port of the ephemeral range may be taken by then.
    """
    order = list(PORTS)
    random.SystemRandom().shuffle(order)  # apart from every seed: two servers that start together differ
    for port in order:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise BackendError(f"No port from {PORTS.start} to {PORTS.stop - 1} is free on this machine.")


class ServerProcess:
    """A running server process, under its supervisor, and its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self._process, self._log = process, log

    @property
    def pid(self) -> int:
        """The supervisor's process id, which is also that of the process group."""
        return self._process.pid

    def check(self) -> None:
        """BackendError if it has ended; `log_tail` may say why."""
        code = self._process.poll()
        if code is not None:
            raise BackendError(f"The server process ended with code {code}.")

    def stop(self) -> None:
        """Ask it to end, then make it end; its children with it."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=STOP_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def log_tail(self, lines: int = 12) -> str:
        """The last lines it wrote."""
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
    if shutil.which(command[0]) is None:
        raise BackendError(f"{command[0]} (backend.launch.python) cannot be started: there is no such program.")
    with tempfile.NamedTemporaryFile(prefix="inference-auctions-server-", suffix=".log") as log:
        process = subprocess.Popen(
            [sys.executable, str(SUPERVISOR), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **env},
            start_new_session=True,
        )
        server = ServerProcess(process, log)
        try:
            yield server
        finally:
            server.stop()

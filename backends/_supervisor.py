"""Stands between us and a server process: ends the whole group of processes when it is told to, or when we are gone.

    python _supervisor.py COMMAND…

Run as a script, as the leader of a new session; imports nothing of ours. Its exit code is the command's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from types import FrameType

#: A server that was told to stop may take this long before it is killed, s.
GRACE_S = 10.0
#: Linux: the signal a process gets when its parent dies (prctl(2)).
PR_SET_PDEATHSIG = 1


class _ToldToStopError(Exception):
    """SIGTERM came: from us, or because we are gone."""


def main() -> None:
    """Run the command; nobody of its group outlives it when it is told to stop."""
    server = None
    try:
        signal.signal(signal.SIGTERM, _tell)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        server = subprocess.Popen(sys.argv[1:])
        sys.exit(server.wait())
    except _ToldToStopError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if server is not None:
            server.terminate()  # it ends its own children in order; who is left is killed
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(timeout=GRACE_S)
        os.killpg(0, signal.SIGKILL)


def _tell(_: int, __: FrameType | None) -> None:
    raise _ToldToStopError


if __name__ == "__main__":
    main()

"""A server process of our own is watched while it runs and gone afterwards, with its children."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from backends import _launch
from backends._launch import PORTS, free_port, server_process
from sim.errors import BackendError

SLEEPER = "import signal; signal.pause()"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}])
print(child.pid, flush=True)
open(sys.argv[1], "w").write(str(child.pid))
child.wait()
"""


def is_running(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_it_is_stopped_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "child"
    os.mkfifo(note)
    with server_process([sys.executable, "-c", PARENT, str(note)], {}) as server:
        server.check()
        child = os.pidfd_open(int(note.read_text()))
    assert not is_running(server.pid)
    ended, _, _ = select.select([child], [], [], 30)
    os.close(child)
    assert ended == [child]


def test_it_is_stopped_when_the_run_fails() -> None:
    pids = []

    def fail() -> None:
        with server_process([sys.executable, "-c", SLEEPER], {}) as server:
            pids.append(server.pid)
            raise ValueError("crash")

    with pytest.raises(ValueError, match="crash"):
        fail()
    assert not is_running(pids[0])


def test_it_is_stopped_when_we_are_killed(tmp_path: Path) -> None:
    note = tmp_path / "child"
    os.mkfifo(note)
    us = f"""
import os, sys
sys.path.insert(0, {str(Path.cwd())!r})
from backends._launch import server_process
with server_process([sys.executable, "-c", {PARENT!r}, {str(note)!r}], {{}}) as server:
    sys.stdin.read()
"""
    killed = subprocess.Popen([sys.executable, "-c", us], stdin=subprocess.PIPE)
    grandchild = os.pidfd_open(int(note.read_text()))
    killed.kill()
    killed.communicate()
    ended, _, _ = select.select([grandchild], [], [], 30)
    os.close(grandchild)
    assert ended == [grandchild]


def test_one_that_ends_by_itself_says_why() -> None:
    words = "print('loading', flush=True); raise SystemExit('no such model')"
    with server_process([sys.executable, "-c", words], {}) as server:
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(BackendError, match="ended with code 1"):
            server.check()
        assert server.log_tail().splitlines() == ["loading", "no such model"]


def test_the_environment_is_handed_on(tmp_path: Path) -> None:
    note = tmp_path / "note"
    words = "import os, sys; open(sys.argv[1], 'w').write(os.environ['GREETING'])"
    with server_process([sys.executable, "-c", words, str(note)], {"GREETING": "hello"}) as server:
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    assert note.read_text() == "hello"


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(BackendError, match=r"no-such-python .backend.launch.python. cannot be started"):
        server_process(["no-such-python"], {}).__enter__()


def test_ports_are_free_ones() -> None:
    ports = [free_port() for _ in range(20)]
    assert all(port in PORTS for port in ports)
    assert len(set(ports)) > 1  # two servers that start together do not race for one


def test_a_port_somebody_listens_on_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        monkeypatch.setattr(_launch, "PORTS", range(taken, taken + 1))
        with pytest.raises(BackendError, match=f"No port from {taken} to {taken} is free"):
            free_port()

"""A workload that a test holds by the hand: it notes that it runs, and stops, fails or dies where it is told to.

What to do stands in files of the folder named by SWEEP_GATE: no part of the scenario, so cells keep their keys.
`closed-N`: wait until the file is gone; `fail-N`: raise; `leave-N`: raise SystemExit(0); `die-N`: end the
process as `kill -9` would.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sim.requests import Demand
from sim.workloads.stars import Stars

__all__ = ["GATED", "Gate", "Gated", "until"]

ROOT = Path(__file__).resolve().parent.parent.parent
GATED = """\
name: gated
workload: {kind: "sweep_gate:Gated", number: 0}
schedule: [dfs-bid, no-sort]
backend: {use: simulated, kv_tokens: 4000}
"""


@dataclass(frozen=True, kw_only=True)
class Gated:
    """Twenty requests in stars.

    Attributes
    ----------
    number : names this cell's files, and varies its prompts.
    """

    number: int

    def recorded(self) -> frozenset[str]:
        """Nothing is recorded."""
        return frozenset()

    def generate(self, rng_stream: Callable[[str], np.random.Generator]) -> Demand:
        """Note that it runs, obey the files, then be stars."""
        folder = Path(os.environ["SWEEP_GATE"])
        with (folder / "log").open("a") as log:
            log.write(f"{self.number} {os.getpid()}\n")
        until(lambda: not (folder / f"closed-{self.number}").exists())
        if (folder / f"fail-{self.number}").exists():
            raise RuntimeError(f"told to fail at {self.number}")
        if (folder / f"leave-{self.number}").exists():
            raise SystemExit(0)
        if (folder / f"die-{self.number}").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        stars = Stars(num_requests=20, cluster_size=4, prefix_tokens=50 + self.number, question_tokens=(5, 9))
        return stars.generate(rng_stream)


@dataclass(frozen=True)
class Gate:
    """A folder with a scenario, its sweeps' output, and the files that `Gated` obeys."""

    folder: Path

    @staticmethod
    def at(folder: Path) -> Gate:
        """A gate that stands open."""
        (folder / "gate").mkdir()
        (folder / "gated.yaml").write_text(GATED, encoding="utf-8")
        return Gate(folder)

    def tell(self, what: str, number: int) -> Path:
        """Make the file that says what the cell of this number is to do."""
        path = self.folder / "gate" / f"{what}-{number}"
        path.touch()
        return path

    @property
    def ran(self) -> list[int]:
        """The numbers of all cells that began, in order."""
        return [int(line.split()[0]) for line in self._log()]

    @property
    def pids(self) -> set[int]:
        """The processes that ran cells."""
        return {int(line.split()[1]) for line in self._log()}

    def sweep(self, cells: int, *arguments: str, out: str = "out") -> subprocess.Popen[str]:
        """`sweep` over `cells` numbers, in a process group of its own that hears Ctrl-C."""
        numbers = ",".join(map(str, range(cells)))
        command = [sys.executable, "-m", "sim", "sweep", str(self.folder / "gated.yaml"), "--out", self.folder / out]
        options = ["--set", f"workload.number={numbers}", *arguments]
        paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])
        env = {**os.environ, "SWEEP_GATE": str(self.folder / "gate"), "PYTHONPATH": paths}
        return subprocess.Popen(
            [*map(str, command), *options],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_hear_ctrl_c,
        )

    def done(self, cells: int, *arguments: str, out: str = "out") -> tuple[int, str, str]:
        """The same, waited for: exit code, stdout, stderr."""
        process = self.sweep(cells, *arguments, out=out)
        printed, said = process.communicate(timeout=120)
        return process.returncode, printed, said

    def path(self, out: str = "out") -> Path:
        """The sweep's folder."""
        (path,) = (self.folder / out).iterdir()
        return path

    def finished(self, out: str = "out") -> Sequence[Path]:
        """The files of finished cells."""
        return sorted((self.folder / out).glob("*/cells/[0-9a-f]*.json"))

    def _log(self) -> list[str]:
        log = self.folder / "gate" / "log"
        return log.read_text().splitlines() if log.exists() else []


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition of the outside world; fails after a minute."""
    pause = threading.Event()
    for _ in range(6000):
        if condition():
            return
        pause.wait(0.01)
    raise TimeoutError("the condition did not come true within a minute")


def _hear_ctrl_c() -> None:
    """A process that a shell started in the background ignores SIGINT, and so do its children; here they must not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

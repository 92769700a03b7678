"""What live tests stand on: real servers on this CPU, and a scenario served by one and then simulated as it was served.

The servers are unmodified. With `reset_phase` a logging hook (tests/live/pass_log) also sets 0.5.23's counter behind
the waiting-prefix refresh back when the cache is flushed, so that every cell begins like a server just started.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backends.sglang import Launch, Sglang
from backends.simulated import Simulated
from sim.errors import BackendError
from sim.replayed_outputs import Fed, Recording
from sim.scenario import load_scenario
from sim.simulate import RunResult, run

LIVE = Path(__file__).resolve().parents[1] / "live"
sys.path.insert(0, str(LIVE))
import build_env  # noqa: E402 (the builder is a script beside the live tests)

#: What decisions are compared on: more than the cache holds, outputs of very different lengths.
PARITY = """\
name: parity
seed: 7
workload: {{kind: stars, num_requests: 64, output_tokens: {{kind: lognormal, median: 16, sigma: 0.8, max_tokens: 120}},
  cluster_size: 6, prefix_tokens: [60, 120], question_tokens: [5, 40], singleton_tokens: [20, 150]}}
schedule: [dfs-bid, dfs-uniform, bid-sort, no-sort]
batching: {{size: 64}}
dispatch: {{in_flight: {in_flight}}}
"""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A server on this CPU, in the words of the simulated one.

    `clipped_tokens`: how much of a request's remaining output admission reserves at most; None = SGLang's own 4096.
    """

    version: str
    page_tokens: int = 1
    overlap: bool = False
    kv_tokens: int = 1024
    conservativeness: float = 1.0
    reset_phase: bool = True
    clipped_tokens: int | None = None

    def __str__(self) -> str:
        overlap = "overlap" if self.overlap else "no-overlap"
        return f"{self.version}-page{self.page_tokens}-{overlap}"

    def launch(self) -> Launch:
        """How to start it."""
        args = [*build_env.SERVER_ARGS, "--page-size", str(self.page_tokens), "--max-total-tokens", str(self.kv_tokens)]
        args += ["--schedule-conservativeness", str(self.conservativeness)]
        if not self.overlap:
            args.append("--disable-overlap-schedule")
        env = dict(build_env.ENVIRONMENT)
        if self.reset_phase and self.version != "0.5.9":
            env |= {"PYTHONPATH": str(LIVE / "pass_log"), "PASS_LOG": "/dev/null"}
        if self.clipped_tokens is not None:
            env["SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION"] = str(self.clipped_tokens)
        python = str(build_env.python(self.version))
        return Launch(model_path=str(LIVE / "tiny-llama"), python=python, args=tuple(args), env=env)

    def simulated(self, facts: dict[str, Any]) -> Simulated:
        """The same server, simulated; chunking as the server says."""
        return Simulated(
            engine=self.version,  # type: ignore[arg-type]
            overlap=self.overlap,
            page_tokens=self.page_tokens,
            kv_tokens=self.kv_tokens,
            schedule_conservativeness=self.conservativeness,
            chunked_prefill_tokens=facts["chunked_prefill_tokens"],
            max_prefill_tokens=facts["max_prefill_tokens"],
        )


def require(version: str) -> None:
    """Skip the test where this SGLang is not installed."""
    if not build_env.is_built(version):
        pytest.skip(f"SGLang {version} is not here: make sglang-cpu VERSION={version}")


@contextmanager
def running(setting: Setting) -> Iterator[Sglang]:
    """A server while the block lasts; the test is skipped where its environment is not built.

    A server that does not come up is said and started once more: a port may have been taken meanwhile, or memory have
    been short, and these tests ask what a running server decides.
    """
    require(setting.version)
    config = Sglang(launch=setting.launch())
    with ExitStack() as stack:
        try:
            server = stack.enter_context(config.open())
        except BackendError as error:
            print(f"{setting}: started once more, for: {error}", file=sys.stderr)
            server = stack.enter_context(config.open())
        yield server


def live_and_simulated(folder: Path, text: str, server: Sglang, setting: Setting) -> tuple[RunResult, RunResult]:
    """The scenario on the server, then simulated with the server's settings and the outputs it gave."""
    path = folder / "scenario.yaml"
    path.write_text(f"{text}backend: {{use: sglang, url: {server.url}}}\n", encoding="utf-8")
    scenario = load_scenario(path, {"sglang": Sglang})
    recording = Recording(scenario.backend.config)
    live = run(scenario, recording)
    own_ids = live.server["prompt_ids"] == "own"
    simulated = run(scenario, Fed(setting.simulated(live.server), recording.outputs, shares_ids=own_ids))
    return live, simulated

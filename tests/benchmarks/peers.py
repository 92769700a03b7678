"""`make bench-peers`: what a simulated request costs here and in other simulators, in one run on one machine.

The workload is one and the same list of requests where the peer can read it: prompts of about 960 tokens, half of them
behind prefixes that 16 share, 64 output tokens, 16 in flight, a KV cache of 23,000 tokens in pages of 16. We write it
as a Mooncake trace with blocks of a page. Figures are CPU time (user + system) and peak memory of whole fresh
processes, so reading the input and writing records are in them; the rate is the marginal one between two sizes, which
takes start-up out.

What the peers do is not the same: the column "models" says what a request's cost buys. Found on two shared cores
(2,000 and 20,000 requests): ours 13,600 to 13,800 requests per CPU-second, with the auction or without; Dynamo's
replay, in Rust and without an auction or records of requests and passes, 28,000 to 36,000; vllm-sr-sim, which knows
neither cache nor batches of tokens, 36,000 to 40,000. Published rates of others, not run here: Vidur 337, DistServe's
SimPy simulator 282, BLIS 219.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

SIZES = (2_000, 20_000)
REPEATS = 3
PAGE, KV_TOKENS, IN_FLIGHT = 16, 23_000, 16

SCENARIO = f"""
name: peers
workload: {{kind: stars, num_requests: 100, output_tokens: 64, sharing: 0.5, prefix_tokens: 900, singleton_tokens: 950}}
schedule: [no-sort]
batching: {{size: 256}}
dispatch: {{in_flight: {IN_FLIGHT}}}
backend: {{use: simulated, profile: h100-qwen3-32b, kv_tokens: {KV_TOKENS}, page_tokens: {PAGE}}}
"""

DYNAMO_ENGINE = {
    "engine_type": "sglang",
    "block_size": PAGE,
    "num_gpu_blocks": KV_TOKENS // PAGE,
    "max_num_batched_tokens": 8192,
    "max_num_seqs": 256,
}

Command = Callable[[Path, int], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A simulator: its command for a number of requests, what it models, and how its output gives the hit rate."""

    name: str
    command: Command
    models: str
    hit_rate: Callable[[Path, str], float | None] = lambda _folder, _output: None


def main() -> None:
    """Measure every simulator and print one table, with the commands below it."""
    python = Path(sys.argv[1]).absolute()
    table = Table("simulator", "requests / CPU-s", "KB a request", "base MB", "hit rate", "models", title="Peers")
    console = Console(width=150)
    commands = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "peers.yaml").write_text(SCENARIO)
        # in processes of their own: a child's peak memory begins at its parent's
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            list(pool.map(write_trace, [folder] * len(SIZES), SIZES))
        for peer in peers(python):
            console.print(f"measuring {peer.name} …", style="dim")
            table.add_row(peer.name, *measure(peer, folder), peer.models)
            commands.append(f"{peer.name}: {shlex.join(peer.command(Path(), SIZES[1]))}")
    console.print(table)
    console.print(f"{SIZES[0]:,} and {SIZES[1]:,} requests, least of {REPEATS} runs each; commands:", style="dim")
    for command in commands:
        print(command)


def peers(python: Path) -> Iterator[Peer]:
    """Ours, then those installed beside `python`."""
    pass_by_pass = "radix cache, eviction, admission, chunks, decode batch; Parquet records"
    yield Peer(name="inference-auctions, FCFS", command=ours("no-sort"), models=pass_by_pass, hit_rate=our_hits)
    auctioned = f"{pass_by_pass}; auctions of 256, VCG payments"
    yield Peer(name="inference-auctions, dfs-bid", command=ours("dfs-bid"), models=auctioned, hit_rate=our_hits)

    def dynamo(folder: Path, size: int) -> list[str]:
        engine = ["--extra-engine-args", json.dumps(DYNAMO_ENGINE), "--replay-concurrency", str(IN_FLIGHT)]
        trace = [f"{folder}/{size}.jsonl", "--trace-format", "mooncake", "--trace-block-size", str(PAGE)]
        report = ["--replay-mode", "offline", "--report-json", f"{folder}/dynamo.json"]
        return [str(python), "-m", "dynamo.replay", *trace, *engine, *report]

    models = "block cache, eviction, batches; Rust; a report of means"
    yield Peer(name="ai-dynamo 1.4.2, dynamo.replay", command=dynamo, models=models, hit_rate=dynamo_hits)

    def fleet(folder: Path, size: int) -> list[str]:
        pools = ["--n-s", "1", "--n-l", "1", "--b-short", "8192", "--gpu-short", "h100", "--gpu-long", "h100"]
        cdf = ["--cdf", f"{folder}/lengths.json", "--lam", "12", "--n-req", str(size)]
        return [str(python.with_name("vllm-sr-sim")), "simulate", *cdf, *pools]

    models = "servers with slots; no cache; 1,024 tokens in all, split 80/20 by the tool"
    yield Peer(name="vllm-sr-sim 0.1.0.dev", command=fleet, models=models)


def ours(schedule: str) -> Command:
    """Our command line under one schedule."""

    def command(folder: Path, size: int) -> list[str]:
        sets = [f"workload.num_requests={size}", f"schedule=[{schedule}]"]
        words = [word for item in sets for word in ("--set", item)]
        simulate = ["-m", "sim", "simulate", f"{folder}/peers.yaml", "--no-report", "--json", "--quiet"]
        return [sys.executable, *simulate, "--out", f"{folder}/runs", *words]

    return command


def measure(peer: Peer, folder: Path) -> tuple[str, str, str, str]:
    """Marginal rate, marginal memory, memory at no request, and the hit rate at the larger size."""
    (cpu_s, mb), (large_s, large_mb) = (least(peer.command(folder, size), folder)[:2] for size in SIZES)
    output = least(peer.command(folder, SIZES[1]), folder, repeats=1)[2]
    more = SIZES[1] - SIZES[0]
    each_mb = (large_mb - mb) / more
    hits = peer.hit_rate(folder, output)
    hit_text = "–" if hits is None else f"{100 * hits:.1f} %"
    return f"{more / (large_s - cpu_s):,.0f}", f"{1024 * each_mb:.1f}", f"{mb - SIZES[0] * each_mb:.0f}", hit_text


def least(command: list[str], folder: Path, repeats: int = REPEATS) -> tuple[float, float, str]:
    """CPU seconds and peak MB of the least disturbed of several runs, and what it printed."""
    runs = []
    for _ in range(repeats):
        log = folder / "output.txt"
        with log.open("w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=folder)
            _, code, usage = os.wait4(process.pid, 0)
        if code:
            raise SystemExit(f"{shlex.join(command)} failed:\n{log.read_text()[-2000:]}")
        runs.append((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, log.read_text()))
    return min(runs)


def our_hits(_: Path, output: str) -> float | None:
    """The hit rate of summary.json, printed by `--json`."""
    (schedule,) = json.loads(output)["schedules"].values()
    rate: float | None = schedule["hit_rate"]["mean"]
    return rate


def dynamo_hits(_: Path, output: str) -> float | None:
    """The share of prompt tokens that Dynamo reports as reused at first admission."""
    found = re.search(r"First Admission Prefix Cache Reused Ratio: ([\d.]+)", output)
    return float(found[1]) if found else None


def write_trace(folder: Path, size: int) -> None:
    """The scenario's own requests as a Mooncake trace: one hash id per page of a prompt, equal from the start on."""
    from backends.simulated import Simulated
    from sim.population import make_requests
    from sim.scenario import load_scenario

    scenario = load_scenario(
        folder / "peers.yaml", {"simulated": Simulated}, overrides=[f"workload.num_requests={size}"]
    )
    prompts = make_requests(scenario, 0)[0].prompts
    ids: dict[tuple[int, bytes], int] = {}
    with (folder / f"{size}.jsonl").open("w") as file:
        for r in range(len(prompts)):
            tokens = prompts.symbols[prompts.indptr[r] : prompts.indptr[r + 1]]
            chain, above = [], -1
            for at in range(0, len(tokens), PAGE):
                above = ids.setdefault((above, tokens[at : at + PAGE].tobytes()), len(ids))
                chain.append(above)
            row = {"timestamp": 0, "input_length": len(tokens), "output_length": 64, "hash_ids": chain}
            file.write(json.dumps(row) + "\n")
    # 1,024 tokens a request, of which the tool takes a fifth as output
    (folder / "lengths.json").write_text(json.dumps([[1023, 0.0], [1024, 1.0]]))


if __name__ == "__main__":
    main()

"""A run says its figures beside the paper's: in the terminal, in its records, and nothing where there is nothing."""

import json
from pathlib import Path

import pytest
from command_line import run_cli, write_small

from sim.papers_figures import gap_sentence, prompts_sentence

AGENT = Path(__file__).resolve().parents[1] / "contract" / "workload_examples" / "agent.traj"
REAL = f"""\
workload: {{kind: swe-agent, paths: ["{AGENT}"], num_requests: null, tokenizer: null, output_tokens: 1}}
schedule: [dfs-bid, no-sort]
backend: {{use: simulated, kv_tokens: 10000}}
"""
Capsys = pytest.CaptureFixture[str]


def test_simulate_prints_the_gap_it_records(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(capsys, "simulate", write_small(tmp_path), "--no-report", "--out", tmp_path / "runs")
    words = " ".join(done.out.split())
    (folder,) = (tmp_path / "runs").iterdir()
    summary = json.loads((folder / "summary.json").read_text())
    assert gap_sentence(summary["gap_to_bid_sort"]) in words
    assert "paired over 2 trials; the paper measured 19–22 % at n = Q)" in words
    welfare = [[trial["welfare"] for trial in summary["schedules"][s]["trials"]] for s in ("dfs-bid", "bid-sort")]
    gaps = [1 - ours / best for ours, best in zip(*welfare, strict=True)]
    assert summary["gap_to_bid_sort"]["mean"] == pytest.approx(sum(gaps) / 2)
    assert "prompts:" not in words
    assert json.loads((folder / "manifest.json").read_text())["facts"] == {}


def test_real_text_says_how_long_and_how_shared_it_is(capsys: Capsys, tmp_path: Path) -> None:
    path = write_small(tmp_path, REAL)
    done = run_cli(capsys, "simulate", path, "--no-report", "--out", tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    facts = json.loads((folder / "manifest.json").read_text())["facts"]
    assert set(facts) == {"sharing", "mean_prompt_tokens", "turn_sharing"}
    sentence = prompts_sentence(facts)
    assert sentence is not None
    assert sentence in " ".join(done.out.split())
    assert "gap to bid-sort" not in done.out


def test_one_trial_has_no_error() -> None:
    said = gap_sentence({"mean": 0.2, "se": None, "n": 1})
    assert said.startswith("gap to bid-sort: 20.0 % (1 − welfare of dfs-bid / welfare of bid-sort, one trial;")


def test_what_does_not_measure_itself_says_nothing() -> None:
    assert prompts_sentence({}) is None
    assert prompts_sentence({"sharing": 0.5}) is None

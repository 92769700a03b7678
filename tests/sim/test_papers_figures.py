"""A run says its figures beside the paper's: in the terminal, in its records, and nothing where there is nothing."""

import json
from pathlib import Path
from typing import Any

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
    assert (
        "paired over 2 trials; not to be compared with the paper's 19–22 % at n = Q: auctions are of 16 of 40" in words
    )
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
    said = gap_sentence({"mean": 0.2, "se": None, "n": 1}, papers(), 64)
    assert said.startswith("gap to bid-sort: 20.0 % (1 − welfare of dfs-bid / welfare of bid-sort, one trial;")


def papers(workload: str = "stars", arrivals: str = "saturated", size: int = 64) -> dict[str, Any]:
    return {"workload": {"kind": workload}, "arrivals": {"kind": arrivals}, "batching": {"size": size}}


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        (papers(), "; the paper measured 19–22 % at n = Q)"),
        (papers("trees", size=4096), "; the paper measured 19–22 % at n = Q)"),
        (papers(size=63), "at n = Q: auctions are of 63 of 64 requests)"),
        (papers("mooncake"), "at n = Q: mooncake requests are none of the paper's)"),
        (papers(arrivals="poisson"), "at n = Q: requests arrive over time)"),
        (
            papers("jsonl", "trace", 8),
            "at n = Q: jsonl requests are none of the paper's, and requests arrive over time)",
        ),
        (papers(size="x"), "at n = Q: auctions are of x of 64 requests)"),  # type: ignore[arg-type]
        (
            {"workload": "stars", "arrivals": []},
            "at n = Q: its requests are none of the paper's, and requests arrive over time)",
        ),
        ({}, "at n = Q: its requests are none of the paper's, and requests arrive over time)"),
    ],
)
def test_the_papers_gap_is_cited_only_where_it_can_be_compared(scenario: dict[str, Any], said: str) -> None:
    sentence = gap_sentence({"mean": 0.2, "se": 0.01, "n": 3}, scenario, 64)
    assert sentence.endswith(said)
    assert ("not to be compared" in sentence) == ("the paper measured" not in sentence)


def test_what_does_not_measure_itself_says_nothing() -> None:
    assert prompts_sentence({}) is None
    assert prompts_sentence({"sharing": 0.5}) is None

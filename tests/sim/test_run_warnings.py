"""A run says what makes its figures others than they seem."""

import json
from pathlib import Path

import pytest
from command_line import Done, run_cli, write_small

Capsys = pytest.CaptureFixture[str]
ONE_BY_ONE = """\
workload: {{kind: jsonl, path: batch.jsonl}}
schedule: {schedule}
backend: {{use: simulated, kv_tokens: {kv_tokens}}}
"""
BATCH = """\
{"id": "a", "bid": 3.0, "value": 3.0, "tokens": [1, 2]}
{"id": "b", "bid": 1.0, "value": 2.0, "tokens": [7, 3]}
"""


def run(capsys: Capsys, folder: Path, batch: str, *settings: str, schedule: str = "dfs-bid", kv: int = 9000) -> Done:
    (folder / "batch.jsonl").write_text(batch)
    text = ONE_BY_ONE.format(schedule=schedule, kv_tokens=kv)
    sets = [part for setting in settings for part in ("--set", setting)]
    return run_cli(capsys, "simulate", write_small(folder, text), *sets, "--quiet", "--out", folder / "runs")


def test_bids_nobody_makes_are_said_once(capsys: Capsys, tmp_path: Path) -> None:
    done = run(capsys, tmp_path, BATCH, "trials=3")
    assert done.err.count("the workload records 1 bids that differ from the values, and nobody makes them") == 1
    assert "Say bidding: from-trace" in done.err
    assert "nobody makes" not in run(capsys, tmp_path, BATCH, "bidding=from-trace").err
    assert "nobody makes" not in run(capsys, tmp_path, BATCH.replace("2.0", "1.0")).err


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("dfs-bid", "those of no-sort; only its payments are its own."),
        ("dfs-uniform", "every auction kept the order of arrival, so its times and welfare are those of no-sort."),
    ],
)
def test_an_order_that_stayed_is_said_with_what_it_cost(
    capsys: Capsys, tmp_path: Path, schedule: str, said: str
) -> None:
    assert said in run(capsys, tmp_path, BATCH, schedule=schedule).err
    assert "kept the order" not in run(capsys, tmp_path, BATCH.replace("2.0", "9.0"), schedule="dfs-bid").err


def test_answers_that_were_cut_short_are_said(capsys: Capsys, tmp_path: Path) -> None:
    # 2 + min(6000, 4096) tokens are promised to fit in 5,000, so the request is taken; 6,000 more do not fit
    batch = BATCH.replace('"tokens"', '"output_tokens": 6000, "tokens"')
    done = run(capsys, tmp_path, batch, kv=5000)
    assert done.code == 0
    assert "dfs-bid, trial 0: 2 of 2 answers were ended before the tokens asked for" in done.err
    assert "before the tokens asked for" not in run(capsys, tmp_path, batch, kv=50000).err


def test_requests_beyond_the_profile_are_counted_in_the_warnings_and_on_the_page(
    capsys: Capsys, tmp_path: Path
) -> None:
    prompt = json.dumps(list(range(24576)))
    long = BATCH.replace("[1, 2]", prompt)  # with its one output token just beyond what the profile was fitted to
    done = run(capsys, tmp_path, long, "trials=2", kv=90000)
    assert "dfs-bid, trial 0: 1 of 2 requests served are longer than the 24,576 tokens that the latency" in done.err
    (folder,) = (tmp_path / "runs").iterdir()
    page = (folder / "report.html").read_text()
    assert "2 of the 4 requests served, over all schedules and trials, are longer than the 24,576 tokens" in page
    within = BATCH.replace("[1, 2]", json.dumps(list(range(24575))))
    assert "extrapolated" not in run(capsys, tmp_path, within, kv=90000).err

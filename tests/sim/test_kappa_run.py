"""The kappa command on a run folder: every auction again, and no workload that is not the run's."""

import json
import random
from pathlib import Path

import oracles
import polars as pl
import pytest
from command_line import run_cli, write_small
from kappa_kit import RUN_SCENARIO, write_rows
from kappa_oracle import Priced
from oracles import Fraction

Capsys = pytest.CaptureFixture[str]


def rows() -> list[dict]:
    """Ties, zero bids and bids without value among them."""
    draw = random.Random(3)
    return [
        {"user": f"u{draw.randrange(4)}", "bid": draw.choice([0, 1, 1, 2, 5]), "value": draw.choice([0, 1, 2, 4])}
        | {"tokens": [7, *(draw.randrange(3) for _ in range(draw.randrange(5)))]}
        for _ in range(23)
    ]


@pytest.fixture
def run(capsys: Capsys, tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl", rows())
    (tmp_path / "s.yaml").write_text(RUN_SCENARIO, encoding="utf-8")
    done = run_cli(capsys, "simulate", tmp_path / "s.yaml", "--json", "--no-report", "--out", tmp_path / "runs")
    assert done.code == 0, done.err
    return Path(json.loads(done.out)["run_dir"])


def kappa(capsys: Capsys, run: Path) -> list[dict]:
    done = run_cli(capsys, "kappa", run, "--json")
    assert done.code == 0, done.err
    found: list[dict] = json.loads(done.out)["auctions"]
    return found


def test_every_auction_equals_the_oracle(capsys: Capsys, run: Path) -> None:
    found = kappa(capsys, run)
    labels = [(schedule, 0, batch) for schedule in ("dfs-bid", "bid-sort", "no-sort") for batch in range(5)]
    assert [(each["schedule"], each["trial"], each["batch"]) for each in found] == labels
    assert list(found[0])[3:] == ["ratio", "bound", "max_kappa", "nodes", "excluded"]
    recorded = pl.read_parquet(run / "requests.parquet")
    prompts = {str(line): row["tokens"] for line, row in enumerate(rows(), start=1)}
    for each in found:
        members = recorded.filter(pl.col("schedule") == each["schedule"], pl.col("batch") == each["batch"])
        money = ([Fraction(x) for x in members[name]] for name in ("bid", "value"))
        case = Priced([prompts[name] for name in members["request_id"]], *money, users=[])
        assert each["ratio"] == pytest.approx(float(case.ratio()), rel=1e-14)
        assert each["bound"] == pytest.approx(float(case.bound()), rel=1e-14)
        assert len(each["nodes"]) == len(case.families)
    dfs = recorded.filter(pl.col("schedule") == "dfs-bid").sort("batch", "position")
    for number, batch in enumerate(dfs.partition_by("batch")):  # and the ratio is that of the order it was served in
        values = [Fraction(v) for v in batch["value"]]
        trie = oracles.trie([prompts[name] for name in batch["request_id"]], range(len(values)))
        best = oracles.phi(values, oracles.best_dfs(trie, values))
        want = oracles.phi(values, range(len(values))) / best if best else 1
        assert found[number]["ratio"] == pytest.approx(float(want), rel=1e-14)


def test_a_generated_workload_is_made_again(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(capsys, "simulate", write_small(tmp_path), "--json", "--no-report", "--out", tmp_path / "runs")
    found = kappa(capsys, Path(json.loads(done.out)["run_dir"]))
    assert len(found) == 4 * 2 * 3  # schedules, trials, batches of 16 out of 40
    assert all((each["ratio"], each["bound"]) == (1, 1) for each in found)  # truthful


def edited(tokens: int, change: dict) -> list[dict]:
    """The rows with one of them changed, the first whose prompt has so many tokens."""
    changed = rows()
    row = next(row for row in changed if len(row["tokens"]) == tokens)
    return [{**each, **change} if each is row else each for each in changed]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tokens": [7, 7, 7, 7]}, "prompt_tokens 3"),
        ({"value": 99}, "value "),
        ({"id": "other"}, "23 requests"),
        ({"tokens": [8, 8, 8]}, "batch 0"),  # as long as before: only the tree shows it
    ],
)
def test_a_workload_file_that_has_changed_is_noticed(
    capsys: Capsys, run: Path, tmp_path: Path, change: dict, told: str
) -> None:
    write_rows(tmp_path / "rows.jsonl", edited(3, change))
    done = run_cli(capsys, "kappa", run, "--json")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert f"{tmp_path / 'rows.jsonl'} has changed since this run" in done.err


def test_an_order_that_is_no_average_bid_dfs_is_noticed(capsys: Capsys, run: Path) -> None:
    path = run / "requests.parquet"
    recorded = pl.read_parquet(path)
    recorded.with_columns((4 - pl.col("position") % 5).alias("position")).write_parquet(path)
    done = run_cli(capsys, "kappa", run)
    assert done.code == 2
    assert "no average-bid DFS" in done.err


def test_requests_that_never_reached_an_auction_stand_outside(capsys: Capsys, run: Path) -> None:
    """As an interrupted run leaves them."""
    before = kappa(capsys, run)
    path = run / "requests.parquet"
    late = (pl.col("schedule") == "no-sort") & (pl.col("batch") == 4)
    gone = [pl.when(late).then(None).otherwise(pl.col(name)).alias(name) for name in ("batch", "position", "bid")]
    pl.read_parquet(path).with_columns(gone).write_parquet(path)
    assert kappa(capsys, run) == before[:-1]
    pl.read_parquet(path).filter(pl.col("schedule") == "dfs-bid").write_parquet(path)
    assert kappa(capsys, run) == before[:5]


def test_the_table_has_a_row_a_schedule(capsys: Capsys, run: Path) -> None:
    done = run_cli(capsys, "kappa", run)
    assert done.code == 0
    assert done.out.startswith("dfs-bid, 5 auctions: ")
    assert "no-sort (if served by average bid)" in done.out


@pytest.mark.parametrize("name", ["scenario.yaml", "requests.parquet", "auctions.parquet"])
def test_a_missing_file_is_named(capsys: Capsys, run: Path, name: str) -> None:
    (run / name).unlink()
    done = run_cli(capsys, "kappa", run)
    assert done.code == 2
    assert f"no {name}" in done.err


def test_a_run_needs_no_tokenizer(capsys: Capsys, run: Path) -> None:
    done = run_cli(capsys, "kappa", run, "--tokenizer", "o200k")
    assert done.code == 2
    assert "--tokenizer" in done.err


def test_one_schedule_can_be_asked_for(capsys: Capsys, run: Path) -> None:
    every = kappa(capsys, run)
    done = run_cli(capsys, "kappa", run, "--schedule", "bid-sort", "--json")
    assert json.loads(done.out)["auctions"] == [each for each in every if each["schedule"] == "bid-sort"]
    said = run_cli(capsys, "kappa", run, "--schedule", "bid-sort").out
    assert "Where welfare may be lost, bid-sort" in said
    assert "dfs-bid" not in said
    done = run_cli(capsys, "kappa", run, "--schedule", "bid-srt")
    assert (done.code, 'Did you mean "bid-sort"?' in done.err) == (2, True)


def test_a_file_has_no_schedules(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(capsys, "kappa", write_rows(tmp_path / "rows.jsonl", rows()), "--schedule", "dfs-bid")
    assert (done.code, "--schedule: found it with the file" in done.err) == (2, True)


def test_ctrl_c_is_a_sentence(capsys: Capsys, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.kappa_run.build_tree", interrupted)
    done = run_cli(capsys, "kappa", run, "--json")
    assert (done.code, done.out, done.err) == (
        130,
        "",
        "interrupted: the bounds were not finished, and no page was written\n",
    )


def test_numbers_at_the_end_of_doubles_warn_nobody(capsys: Capsys, tmp_path: Path) -> None:
    scale = [{"bid": 1e-300, "value": 1e300}, {"bid": 1e306, "value": 1e-300}, {"bid": 1.0, "value": 1e306}]
    ends = [{"user": f"u{n}", "tokens": [n % 2, n], **scale[n % 3]} for n in range(6)]
    page = tmp_path / "k.html"
    done = run_cli(capsys, "kappa", write_rows(tmp_path / "rows.jsonl", ends), "--out", page)
    assert (done.code, done.err) == (0, f"page: {page}\n")

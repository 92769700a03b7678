"""The `audit` command on files and scenarios: what it says can be repeated, and claims that fail end in exit 5."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from broken_rules import ThirdPrice
from command_line import run_cli

from mechanism.prompts import Prompts
from mechanism.scheduling.bid_sort import BidSort
from sim.audit import AuditSettings, Rules, audit_batches
from sim.audit_report import AuditedBatch, AuditReport, check_claims
from sim.audit_words import percent, reading, repeat
from sim.batch_file import read_batch
from sim.clearing_report import clear_batch
from sim.errors import InvariantError

ROWS = [
    {"id": "a", "user": "ann", "bid": 4.0, "tokens": [1, 1]},
    {"id": "b", "user": "ann", "bid": 1.0, "tokens": [2, 5]},
    {"id": "c", "user": "bob", "bid": 3.0, "tokens": [1, 2]},
    {"id": "d", "user": "cat", "bid": 2.0, "tokens": [2, 3]},
    {"id": "e", "user": "cat", "bid": 2.5, "tokens": [3]},
]


def write(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "batch.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def utility(path: Path, user: str, schedule: str, payment: str) -> float:
    rows = clear_batch(read_batch(path), schedule, payment)["users"]
    return float(next(row["utility"] for row in rows if row["user"] == user))


def test_a_reported_misreport_can_be_repeated_from_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, ROWS)
    done = run_cli(capsys, "audit", path, "--payment", "pay-as-bid", "--json")
    assert (done.code, done.err) == (0, "")
    (mechanism,) = json.loads(done.out)["mechanisms"]
    assert (mechanism["schedule"], mechanism["payment"], mechanism["claims_truthful"]) == (
        "dfs-bid",
        "pay-as-bid",
        False,
    )
    found = {kind["kind"]: kind for kind in mechanism["kinds"]}
    assert found["misreport"]["tried"] == 3
    assert found["misreport"]["can_gain"] >= 2
    best = found["misreport"]["best"]
    (user,) = best["users"]
    lied = [{**row, "value": row["bid"], "bid": best["bids"].get(row["id"], row["bid"])} for row in ROWS]
    truth = utility(path, user, "dfs-bid", "pay-as-bid")
    (tmp_path / "lie").mkdir()
    lie = utility(write(tmp_path / "lie", lied), user, "dfs-bid", "pay-as-bid")
    assert lie - truth == pytest.approx(best["gain"], abs=1e-12)
    assert best["gain_share_of_worth"] == pytest.approx(
        best["gain"] / sum(row["bid"] for row in ROWS if row["user"] == user)  # type: ignore[misc]
    )


def test_vcg_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "audit", write(tmp_path, ROWS))
    assert done.code == 0
    assert "No misreport pays: 3 users were tried" in done.out.replace("\n", " ")


SCENARIO = """\
workload: {kind: stars, num_requests: 24, prefix_tokens: 6, question_tokens: [2, 4], singleton_tokens: 8}
users: {kind: random, count: 4}
batching: {size: 8}
schedule: [{use: dfs-bid, label: ours}, fair]
backend: {use: simulated, kv_tokens: 2000}
"""


def test_a_scenario_is_audited_batch_by_batch_and_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    page = tmp_path / "audit.html"
    first = run_cli(capsys, "audit", path, "--users", 2, "--seed", 3, "--json", "--out", page)
    assert first.code == 0
    assert "page: " in first.err
    assert "ours (dfs-bid + vcg)" in page.read_text(encoding="utf-8")
    found = json.loads(first.out)
    assert [(m["label"], m["payment"], len(m["auctions"])) for m in found["mechanisms"]] == [
        ("ours", "vcg", 2),
        ("fair", "free", 2),
    ]
    assert all(a["n"] == 8 for m in found["mechanisms"] for a in m["auctions"])
    assert {kind["tried"] for m in found["mechanisms"] for kind in m["kinds"]} <= {1, 2, 3, 4}
    assert json.loads(run_cli(capsys, "audit", path, "--users", 2, "--seed", 3, "--json").out) == found


@pytest.mark.parametrize("option", ["--schedule", "--payment", "--tokenizer"])
def test_a_scenario_names_its_own_rules(capsys: pytest.CaptureFixture[str], option: str) -> None:
    done = run_cli(capsys, "audit", "mixshare-50", option, "x")
    assert done.code == 2
    assert option in done.err


def broken() -> AuditReport:
    batch = AuditedBatch(
        number=4,
        request_id=("r0", "r1", "r2", "r3"),
        user_names=("ann", "bob", "cat", "dan"),
        prompts=Prompts.from_lists([[1], [2], [3], [4]]),
        values=np.array([4.0, 3.5, 3.0, 1.0]),
        users=np.arange(4),
    )
    rules = Rules(label="planted", schedule="bid-sort", rule=BidSort(), payment="third-price", pricing=ThirdPrice())
    return audit_batches("a.yaml", [batch], [rules], AuditSettings())


def test_a_rule_that_claims_too_much_is_an_error() -> None:
    report = broken()
    with pytest.raises(InvariantError, match="planted: the payment third-price declares itself truthful, but user"):
        check_claims(report.mechanisms)
    (mechanism,) = report.mechanisms
    best = mechanism.kind("misreport").best
    assert best is not None
    assert "Lying about values pays" in reading(mechanism)
    lines = repeat(best, report)
    assert lines[0].startswith("batch 4 of a.yaml")
    assert [line for line in lines if line.startswith("request r")]


def test_shares_are_rounded_for_the_eye() -> None:
    assert [percent(share) for share in (0.0, 0.00012, 0.5, 1.234)] == ["0 %", "0.012 %", "50 %", "123 %"]

"""The `audit` command on files and scenarios: what it says can be repeated, and claims that fail end in exit 5."""

from __future__ import annotations

import html
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broken_rules import ThirdPrice
from command_line import run_cli

from mechanism.prompts import Prompts
from mechanism.scheduling.bid_sort import BidSort
from sim.audit import Rules, audit_batches
from sim.audit_lie import AuditedBatch
from sim.audit_report import AuditReport, check_claims
from sim.audit_source import AuditSettings, AuditSource
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
    words = shlex.split(found["command"])
    assert words[:2] == ["inference-auctions", "audit"]
    assert json.loads(run_cli(capsys, *words[1:], "--json").out) == found
    assert found["options"] == {"auctions": 2, "users": 2, "seed": 3}
    assert found["command"] in html.unescape(page.read_text(encoding="utf-8"))


def test_what_was_set_is_part_of_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    sets = ("--set", "schedule=[dfs-bid]", "--set", "bidding={use: shading, factor: 0.5}")

    def found(*more: str) -> dict[str, Any]:
        options = (*sets, *more, "--users", 1, "--auctions", 1, "--json")
        return json.loads(run_cli(capsys, "audit", path, *options).out)  # type: ignore[no-any-return]

    first, other = found(), found("--set", "seed=5")
    assert first["options"]["set"] == [sets[1], sets[3]]
    assert first["command"].endswith("'bidding={use: shading, factor: 0.5}' --auctions 1 --users 1 --seed 0")
    assert len(first["config_hash"]) == 64
    assert other["config_hash"] != first["config_hash"]
    assert first["notes"] == [
        "The scenario's bidding (shading) plays no part: lies are compared with bidding the values."
    ]


def test_values_too_large_to_lie_about_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, [{**row, "bid": 1e305} if row["id"] == "c" else row for row in ROWS])
    done = run_cli(capsys, "audit", path)
    assert done.code == 2
    assert f"{path}:3: bid: found 1e+305; expected at most 1e+100 in an audit" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--auctions", 3), "--auctions: found it with"),
        (("--set", "seed=2"), "--set: found it with"),
    ],
)
def test_a_batch_file_takes_no_options_of_scenarios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[Any, ...], said: str
) -> None:
    done = run_cli(capsys, "audit", write(tmp_path, ROWS), *options)
    assert (done.code, said in done.err) == (2, True)


def test_a_batch_by_another_name_is_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, ROWS).rename(tmp_path / "batch.txt")
    done = run_cli(capsys, "audit", path)
    assert done.code == 2
    assert "A file of requests is known by its name, which ends in .jsonl." in done.err


def test_false_names_are_names_nobody_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(r), "user": "bob", "bid": 1.0, "tokens": [r]} for r in range(3)]
    rows += [{"id": name, "user": name, "bid": 1.0, "tokens": [9]} for name in ("bob#2", "ann")]
    done = run_cli(capsys, "audit", write(tmp_path, rows), "--schedule", "fair", "--json")
    kinds = {kind["kind"]: kind for kind in json.loads(done.out)["mechanisms"][0]["kinds"]}
    assert sorted(kinds["false-names"]["best"]["names"].values()) == ["bob#3", "bob#4"]


def test_ctrl_c_prints_what_was_found_marked_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr("mechanism.audit.coalitions.Coalitions.search", interrupted)
    page = tmp_path / "audit.html"
    done = run_cli(capsys, "audit", write(tmp_path, ROWS), "--payment", "pay-as-bid", "--json", "--out", page)
    assert done.code == 130
    assert "interrupted: what was found until then is given, marked partial" in done.err
    found = json.loads(done.out)
    assert found["status"] == "partial"
    tried = {kind["kind"]: (kind["tried"], kind["planned"]) for kind in found["mechanisms"][0]["kinds"]}
    assert tried["misreport"] == (3, 3)
    assert tried["coalition"] == (0, 3)
    assert "Not all was tried." in page.read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert "<strong>Partial:</strong>" in text
    assert "not tried" in text


def test_a_scenario_s_rules_are_set_as_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "audit", "mixshare-50", "--schedule", "fair")
    assert "expected --set schedule=fair" in done.err


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
    return audit_batches(AuditSource.of("a.yaml", {}, AuditSettings()), [batch], [rules], AuditSettings())


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

"""The kappa command on a batch file: the JSON of DESIGN.md, by hand."""

import json
import math
from pathlib import Path

import pytest
from command_line import run_cli
from kappa_kit import FOUR, priced, write_rows

Capsys = pytest.CaptureFixture[str]


def test_the_json_is_the_documented_one(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", FOUR), "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert list(found) == ["ratio", "bound", "max_kappa", "nodes", "excluded"]
    assert (found["ratio"], found["excluded"]) == (11 / 14, [])
    assert found["bound"] == pytest.approx((6 / 2.4 + 8 / 2) / 14, rel=1e-15)
    assert found["max_kappa"] == pytest.approx(2.4, rel=1e-15)
    root, seven = found["nodes"]
    assert list(root) == ["depth_tokens", "requests", "children", "kappa", "omega", "loss"]
    assert root == pytest.approx(
        {"depth_tokens": 0, "requests": 4, "children": 2, "kappa": 2.4, "omega": 6, "loss": 3.5 / 14}, rel=1e-15
    )
    assert seven == pytest.approx(
        {"depth_tokens": 1, "requests": 3, "children": 3, "kappa": 2, "omega": 8, "loss": 4 / 14}, rel=1e-15
    )


def test_two_zero_bids_at_the_root_guarantee_nothing(capsys: Capsys, tmp_path: Path) -> None:
    """CASES.md H."""
    rows = [{"bid": 0, "value": value, "tokens": [token]} for value, token in ((1, 1), (0, 2))]
    found = json.loads(run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", rows), "--json").out)
    assert (found["bound"], found["ratio"], found["max_kappa"]) == (0, 1, None)
    assert found["nodes"] == [
        {"depth_tokens": 0, "requests": 2, "children": 2, "kappa": None, "omega": 1.0, "loss": 1.0}
    ]
    reason = "1 of 2 children are worth something and bid nothing"
    assert found["excluded"] == [{"depth_tokens": 0, "requests": 2, "reason": reason}]


def test_every_reason_is_told() -> None:
    rows = [{"user": "u", "bid": b, "value": v, "tokens": [t]} for t, (b, v) in enumerate([(0, 1), (1, 0), (2, 0)])]
    assert list(priced(rows).reasons().values()) == [
        "1 of 3 children are worth something and bid nothing; 2 of 3 children bid and are worth nothing"
    ]
    apart = [
        {"user": "u", "bid": b, "value": v, "tokens": [t]} for t, (b, v) in enumerate([(1e-300, 1e20), (1e300, 1)])
    ]
    (reason,) = priced(apart).reasons().values()
    assert reason == "multipliers of its children differ by more than a double can hold"


def test_a_value_that_is_not_stated_is_the_bid(capsys: Capsys, tmp_path: Path) -> None:
    rows = [{"bid": bid, "tokens": [1, token]} for bid, token in ((1, 1), (5, 2), (2, 3))]
    path = write_rows(tmp_path / "b.jsonl", rows)
    found = json.loads(run_cli(capsys, "kappa", path, "--json").out)
    assert (found["ratio"], found["bound"], found["max_kappa"]) == (1, 1, 1)
    text = run_cli(capsys, "kappa", path).out
    assert "100 % guaranteed and realised" in text
    assert "The file states no values" in text


@pytest.mark.parametrize("rows", [[{"bid": 1, "tokens": [1]}], [{"bid": 0, "tokens": [1]}, {"bid": 0, "tokens": [2]}]])
def test_where_nothing_can_be_lost_both_are_one(capsys: Capsys, tmp_path: Path, rows: list) -> None:
    found = json.loads(run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", rows), "--json").out)
    assert (found["ratio"], found["bound"], found["max_kappa"]) == (1, 1, 1)
    assert all(node["loss"] == 0 and node["kappa"] == 1 for node in found["nodes"])


def test_the_table_begins_with_the_reading(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", FOUR))
    assert done.code == 0
    assert done.out.startswith("46.4 % guaranteed, 78.6 % realised; 53 % of the possible loss sits at one node:")
    assert "Where welfare may be lost" in done.out
    assert done.err == ""


def test_prompts_may_be_texts(capsys: Capsys, tmp_path: Path) -> None:
    rows = [{"bid": 1, "value": 2, "prompt": "abc"}, {"bid": 1, "value": 1, "prompt": "abd"}]
    found = json.loads(run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", rows), "--json").out)
    assert [node["depth_tokens"] for node in found["nodes"]] == [2]


def test_quiet_prints_nothing_and_out_writes_the_page(capsys: Capsys, tmp_path: Path) -> None:
    out = tmp_path / "pages" / "k.html"
    done = run_cli(capsys, "kappa", write_rows(tmp_path / "b.jsonl", FOUR), "--quiet", "--out", out)
    assert (done.code, done.out, done.err) == (0, "", f"page: {out}\n")
    assert out.stat().st_size > 1_000_000


@pytest.mark.parametrize("name", ["nothing.jsonl", "folder"])
def test_what_is_neither_a_batch_nor_a_run_is_an_error(capsys: Capsys, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    done = run_cli(capsys, "kappa", tmp_path / name)
    assert done.code == 2
    assert name in done.err


def test_shares_are_of_the_best_welfare() -> None:
    found = priced(FOUR)
    assert found.best_welfare == 14 / 3
    assert found.weight.tolist() == [6 / 14, 8 / 14]
    assert found.lost.tolist() == [3 / 14, 0]
    assert math.isclose(found.allowed.sum(), 1 - found.bound.bound)

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from sim.batch_file import BatchFile, read_batch
from sim.clearing_report import auction_table, clear_batch
from sim.errors import ScenarioError

# Families {a, b} (shared "x ") and {c}; ann owns a and c.
ROWS = [
    {"id": "a", "user": "ann", "bid": 9, "prompt": "x 1"},
    {"id": "b", "user": "bob", "bid": 1, "prompt": "x 2", "value": 2},
    {"id": "c", "user": "ann", "bid": 3, "prompt": "y"},
    {"id": "d", "bid": 4, "prompt": "z"},
]


@pytest.fixture
def batch(tmp_path: Path) -> BatchFile:
    file = tmp_path / "batch.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)))
    return read_batch(file)


def test_by_hand(batch: BatchFile) -> None:
    """Average bids 5, 4, 3: order a b d c, x = 1, ⅔, ⅓, 0.

    Ann at zero: {a, b} falls to ½ and d with 4 passes both, 2·4 − 1·1 = 7; c falls to 0 and passes nobody; inside
    {a, b}, b passes a: 1. She pays 8/3. Bob at zero: {a, b} keeps 9/2 and stays. d at zero: c passes, 3/3.
    """
    result = clear_batch(batch, "dfs-bid")
    assert (result["schedule"], result["payment"], result["n"]) == ("dfs-bid", "vcg", 4)
    assert result["welfare"] == pytest.approx(9 + 2 * 2 / 3 + 4 / 3)
    assert result["welfare_upper_bound"] == pytest.approx(9 + 4 * 2 / 3 + 3 / 3)
    assert [row["id"] for row in result["requests"]] == ["a", "b", "d", "c"]
    assert [row["position"] for row in result["requests"]] == [0, 1, 2, 3]
    assert [row["priority"] for row in result["requests"]] == [1.0, 2 / 3, 1 / 3, 0.0]
    assert [row["payment"] for row in result["requests"]] == pytest.approx([8 / 3, 0, 1, 0])
    users = {row["user"]: row for row in result["users"]}
    assert list(users) == ["ann", "bob", "d"]
    assert users["ann"] == {"user": "ann", "declared_value": 9.0, "payment": 8 / 3, "utility": 9 - 8 / 3}
    assert users["bob"]["declared_value"] == pytest.approx(2 / 3)
    assert users["bob"]["utility"] == pytest.approx(2 * 2 / 3)
    assert result["revenue"] == pytest.approx(8 / 3 + 1)


def test_requests_of_a_user_add_up_to_his_payment(batch: BatchFile) -> None:
    for schedule in ("dfs-bid", "bid-sort"):
        result = clear_batch(batch, schedule)
        for user in result["users"]:
            paid = sum(row["payment"] for row in result["requests"] if row["user"] == user["user"])
            assert paid == pytest.approx(user["payment"])


def test_the_result_is_strict_json_with_the_documented_keys(batch: BatchFile) -> None:
    result: dict[str, Any] = json.loads(json.dumps(clear_batch(batch, "no-sort"), allow_nan=False))
    top = ["schedule", "payment", "n", "welfare", "welfare_upper_bound", "requests", "users", "revenue"]
    assert list(result) == top
    assert list(result["requests"][0]) == ["id", "user", "bid", "position", "priority", "payment"]
    assert list(result["users"][0]) == ["user", "declared_value", "payment", "utility"]


def test_no_schedule_beats_the_upper_bound(batch: BatchFile) -> None:
    results = [clear_batch(batch, schedule) for schedule in ("dfs-bid", "dfs-uniform", "bid-sort", "no-sort")]
    assert len({result["welfare_upper_bound"] for result in results}) == 1
    assert all(result["welfare"] <= result["welfare_upper_bound"] for result in results)


@pytest.mark.parametrize(
    ("schedule", "payment", "message"),
    [
        ("dfs-bit", None, '--schedule: found "dfs-bit".*Did you mean "dfs-bid"'),
        ("dfs-bid", "vgc", '--payment: found "vgc"'),
        ("no-sort", "vcg", "--payment: .*defined under the schedule. The schedule's own is free"),
    ],
)
def test_rules_that_do_not_exist_or_fit(batch: BatchFile, schedule: str, payment: str | None, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        clear_batch(batch, schedule, payment)


def test_a_rule_that_needs_parameters_is_for_scenarios(batch: BatchFile) -> None:
    with pytest.raises(ScenarioError, match="this one needs step"):
        clear_batch(batch, "parametrised_rule:NeedsStep")


def test_names_are_shown_as_text(batch: BatchFile) -> None:
    result = clear_batch(batch, "dfs-bid")
    result["requests"][0]["id"] = "[red]a[/red]"
    console = Console(file=io.StringIO(), width=120)
    console.print(auction_table(result))
    assert "[red]a[/red]" in console.file.getvalue()  # type: ignore[attr-defined]


def test_one_request_pays_nothing(tmp_path: Path) -> None:
    file = tmp_path / "batch.jsonl"
    file.write_text('{"bid": 5, "tokens": [1, 2]}')
    result = clear_batch(read_batch(file), "dfs-bid")
    assert (result["welfare"], result["revenue"]) == (5.0, 0.0)
    assert result["requests"] == [{"id": "1", "user": "1", "bid": 5.0, "position": 0, "priority": 1.0, "payment": 0.0}]
    assert np.isfinite(result["welfare_upper_bound"])

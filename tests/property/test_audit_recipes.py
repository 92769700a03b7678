"""Every lie an audit reports can be repeated: what it prints, put into the batch file and cleared, brings the gain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_kit import plainly, repeated, utilities, write_rows

from sim.audit import audit_batch_file
from sim.audit_source import AuditSettings
from sim.plugins import available, load

PAIRS = [
    (schedule, payment)
    for schedule in available("mechanism.scheduling")
    for payment in available("mechanism.pricing")
    if load("mechanism.pricing", payment)().defined_for(load("mechanism.scheduling", schedule)())
]
WORDS = ("ab", "abc", "né", "xyé", "z")


def random_rows(kind: str, seed: int, n: int = 8) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(n):
        pieces = [int(piece) for piece in rng.integers(0, 3, rng.integers(1, 4))]
        row: dict[str, Any] = {
            "id": f"r{number}",
            "user": ["u", "u#2", "v", "w"][int(rng.integers(4))],  # a name that looks like a false one
            "bid": float(np.round(rng.pareto(1.5) + rng.integers(0, 2), 2)),
        }
        if rng.integers(2):
            row["value"] = float(np.round(rng.pareto(1.5), 2))
        if kind == "tokens":
            row["tokens"] = [token for piece in pieces for token in [piece] * (1 + piece)] + [int(rng.integers(9))]
        elif kind == "hash_ids":
            tokens = 4 * len(pieces) - int(rng.integers(0, 4))
            row |= {"hash_ids": pieces, "input_length": tokens, "block_tokens": 4}
        else:
            row["prompt"] = "".join(WORDS[piece] for piece in pieces) + WORDS[int(rng.integers(len(WORDS)))]
        rows.append(row)
    return rows


@pytest.mark.parametrize(("schedule", "payment"), PAIRS)
def test_what_is_printed_brings_what_is_promised(tmp_path: Path, schedule: str, payment: str) -> None:
    place = PAIRS.index((schedule, payment))
    for kind in ("tokens", ("prompt", "hash_ids")[place % 2]):
        rows = random_rows(kind, place)
        path = write_rows(tmp_path / "batch.jsonl", rows)
        report = audit_batch_file(path, schedule, payment, None, AuditSettings(users=2))
        owners = {row["id"]: row["user"] for row in rows}
        truth = utilities(tmp_path / "truth.jsonl", plainly(rows), owners, schedule, payment)
        worth = sum(row["value"] for row in plainly(rows))
        for found in report.to_json()["mechanisms"][0]["kinds"]:
            for lie in (found["best"], found["largest_share"]) if found["best"] else ():
                lied = repeated(rows, lie)
                got = utilities(tmp_path / "lie.jsonl", lied, owners, schedule, payment)
                gains = [got[user] - truth[user] for user in lie["users"]]
                assert gains == pytest.approx(lie["gains"], rel=1e-9, abs=1e-12 * worth)
                assert lie["gain"] == pytest.approx(sum(gains), rel=1e-9, abs=1e-12 * worth)
                assert not set(lie["names"].values()) & set(owners.values())
                if lie["trick_adds"] is not None:
                    (user,) = lie["users"]
                    bids_alone = repeated(rows, lie, trick=False)
                    without = utilities(tmp_path / "bids.jsonl", bids_alone, owners, schedule, payment)
                    adds = got[user] - max(truth[user], without[user])
                    assert lie["trick_adds"] == pytest.approx(adds, rel=1e-9, abs=1e-12 * worth)
                    assert 0 < adds <= lie["gain"] * (1 + 1e-9) + 1e-12 * worth


def test_texts_are_encoded_anew_with_what_is_in_front(tmp_path: Path) -> None:
    pytest.importorskip("bpe_openai", reason="the text extra is not installed")
    rows = random_rows("prompt", 3)
    for row in rows:
        row["prompt"] = f"Please {row['prompt']} the {row['prompt']}ing of letters"
    path = write_rows(tmp_path / "batch.jsonl", rows)
    report = audit_batch_file(path, "k-lpm", None, "o200k", AuditSettings(users=4)).to_json()
    lie = next(each["best"] for each in report["mechanisms"][0]["kinds"] if each["kind"] == "padding")
    owners = {row["id"]: row["user"] for row in rows}
    truth = utilities(tmp_path / "t.jsonl", plainly(rows), owners, "k-lpm", "free", "o200k")
    got = utilities(tmp_path / "l.jsonl", repeated(rows, lie), owners, "k-lpm", "free", "o200k")
    (user,) = lie["users"]
    assert got[user] - truth[user] == pytest.approx(lie["gain"], rel=1e-9)
